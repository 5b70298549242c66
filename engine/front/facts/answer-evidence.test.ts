/** Evidence of bodies of answers: as far as the rules were given them, and why there is less. */

import { afterEach, expect, test } from 'vitest';
import type { AnswerBody, EvidenceRecord } from '../../contract/evidence.ts';
import {
  standardLogging,
  standardLogSettings,
  type LoggingConfig,
} from '../../contract/logging.ts';
import { evidenceLimits } from '../../base/observation-limits.ts';
import { CaptureRoom } from './body-capture.ts';
import { EvidenceBatcher } from './evidence-batcher.ts';
import { unpackEvidence } from './evidence-wire.ts';
import {
  blockWith,
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
} from '../fixtures/fixture.ts';
import type { Script } from '../fixtures/fixture.ts';
import { createFront } from '../threads/front.ts';
import { LogSampler } from './log-sampler.ts';

const closing = new Closing();
afterEach(() => closing.run());

const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
const inspects = { inspect: true, limitBytes: 100_000, onExcess: 'prefix' } as const;
const kept = { ...standardLogSettings.evidence!, mode: 'retained', body: 'prefix' } as const;

interface Case {
  readonly script?: Script;
  readonly evidence?: Partial<typeof kept> | { readonly body: 'none' | 'whole' };
  readonly wanted?: boolean;
  readonly content?: string;
}

/** The evidence of one request whose origin answers `content`; checks that no room stays taken. */
async function evidenceOf({ script = {}, evidence, wanted = true, content = 'answer' }: Case) {
  const records: EvidenceRecord[] = [];
  const batcher = new EvidenceBatcher((batch) => records.push(...unpackEvidence(batch)));
  const sampler = new LogSampler();
  const captures = new CaptureRoom();
  const settings = { ...kept, ...evidence };
  const standard = { ...standardLogSettings, accessMode: 'all' as const, evidence: settings };
  const logging: LoggingConfig = { ...standardLogging, standard, exportAnswerBodies: wanted };
  sampler.use(logging);
  captures.use(logging, 1);
  const origin = await httpOrigin(closing, (_request, response) => response.end(content));
  let done = (): void => undefined;
  const ended = new Promise<void>((resolve) => (done = resolve));
  const front = createFront({
    routes: { revision: 'r1', sites: [siteFor(origin, { waf })] },
    inspectorOf: () => new ScriptedInspector({ responseNeed: inspects, ...script }),
    captures,
    onRequestDone: (event, _policy, source) => {
      batcher.add(event, captures.settingsOf(event.siteId), sampler.select(event), source);
      done();
    },
  });
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  closing.add(() => front.close());
  const client = new RawClient(port).send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await client.all();
  await ended;
  batcher.flush();
  expect(captures.take(settings.inflightBytesMax)).toBe(true);
  return records[0]!;
}

const shown = (body: AnswerBody | undefined): unknown =>
  body && [Buffer.from(body.bytes).toString(), body.lack];

test('what the rules were given is kept, of answers that pass and that are blocked', async () => {
  for (const later of [false, true]) {
    const passed = await evidenceOf({ script: { later } });
    expect([passed.answer.status, shown(passed.answerBody)]).toEqual([200, ['answer', '']]);
    const blocks = { later, responseBody: () => blockWith(403, 4) };
    const blocked = await evidenceOf({ script: blocks });
    expect([blocked.answer.status, shown(blocked.answerBody)]).toEqual([403, ['answer', '']]);
  }
});

test('a body ends where the rules, the log policy or the message end it', async () => {
  const responseNeed = { ...inspects, limitBytes: 4 };
  const inspected = await evidenceOf({ script: { responseNeed } });
  expect(shown(inspected.answerBody)).toEqual(['answ', 'cut']);
  const few = await evidenceOf({ evidence: { bodyBytesMax: 2 } as object });
  expect(shown(few.answerBody)).toEqual(['an', 'cut']);
  const { answerBodyBytesMax } = evidenceLimits;
  const content = 'x'.repeat(answerBodyBytesMax + 1);
  const long = await evidenceOf({ content, evidence: { body: 'whole' } });
  expect([long.answerBody?.bytes.length, long.answerBody?.lack]).toEqual([
    answerBodyBytesMax,
    'cut',
  ]);
});

test('where there is none, evidence says why, and nothing where nobody asked', async () => {
  expect((await evidenceOf({ wanted: false })).answerBody).toBeUndefined();
  const off = await evidenceOf({ evidence: { body: 'none' } });
  expect(shown(off.answerBody)).toEqual(['', 'log_policy']);
  const unread = { responseNeed: { ...inspects, inspect: false } };
  expect(shown((await evidenceOf({ script: unread })).answerBody)).toEqual(['', 'not_held']);
  const own = { head: () => blockWith(403, 1) };
  expect(shown((await evidenceOf({ script: own })).answerBody)).toEqual(['', 'not_held']);
  const crowded = await evidenceOf({ evidence: { inflightBytesMax: 3 } as object });
  expect(shown(crowded.answerBody)).toEqual(['', 'inflight_limit']);
});
