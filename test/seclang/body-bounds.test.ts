/**
 * The two bounds of the inspection of bodies, with traffic through a front: what decides, what is
 * recorded, and what is counted as not inspected, for every way in which bodies are read. The same
 * requests in a simulation come to the same.
 */

import { createHash } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import type { InspectionSession, Inspector } from '../../engine/contract/inspection.ts';
import type { TransactionRecord } from '../../engine/contract/verdict.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  siteFor,
  startFront,
} from '../../engine/front/fixtures/fixture.ts';
import { headFrom } from '../../engine/rules/load/test-sample.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { builtPolicy } from '../support/built-policy.ts';
import {
  attack,
  boundRows,
  budget,
  kindsOf,
  observe,
  type BodyKind,
  type BoundRow,
} from './body-bounds-table.ts';

const ruleId = 1;
const rule = `SecRule ARGS|ARGS_NAMES|XML:/*|XML://@* "@contains ${attack}" \\
  "id:${ruleId},phase:2,t:none,deny,status:403,log,msg:'found'"`;

const closing = new Closing();
const engines: PolicyEngine[] = [];
afterEach(() => closing.run());
afterAll(() => engines.forEach((engine) => engine.retire()));

async function engineOf({ core, engineState = 'ENGINE_STATE_ON' }: BoundRow) {
  const crsCore = { requestBodyLimit: String(budget), ...core };
  const light = builtInTemplates.find(({ name }) => name === 'Light')!;
  const { httpPolicy = {}, argLimits = {} } = light;
  const policy = { name: 'p', engineState, crsCore, httpPolicy, argLimits };
  const { seclang } = renderPolicy(policy, null, { afterCrs: rule });
  const source = { id: 'p', name: 'p', revision: '1', seclangEntry: seclang, files: new Map() };
  const engine = await builtPolicy(source);
  engines.push(engine);
  return engine;
}

/** Answers through promises, as sessions of the pool do. */
function late(inspector: Inspector): Inspector {
  return {
    open(request) {
      const inner = inspector.open(request);
      return {
        get bodyNeed() {
          return inner.bodyNeed;
        },
        get responseNeed() {
          return inner.responseNeed;
        },
        requestHead: async () => inner.requestHead(),
        requestBody: async (body) => inner.requestBody(body),
        responseHead: async (response) => inner.responseHead(response),
        responseBody: async (body) => inner.responseBody(body),
        finish: async () => inner.finish(),
      } satisfies InspectionSession;
    },
  };
}

function wireOf(type: string, body: Buffer, chunked: boolean): Buffer {
  const typed = type === '' ? '' : `Content-Type: ${type}\r\n`;
  const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${typed}${framing}\r\n\r\n`;
  if (!chunked) return Buffer.concat([Buffer.from(head), body]);
  const pieces: Buffer[] = [Buffer.from(head)];
  for (let at = 0; at < body.length; at += 50_000) {
    const piece = body.subarray(at, at + 50_000);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

/** What the record says of the attack and of bytes that nobody looked at. */
function seenIn(record: TransactionRecord | null) {
  const match = record?.matchedRules.find((one) => one.ruleId === ruleId);
  const found =
    match === undefined ? 'nowhere' : match.bodyOffset === undefined ? 'before' : 'window';
  const uninspected = record?.uninspectedBytes !== undefined;
  if (uninspected) expect(record.limitsReached).toContain('body-bytes');
  return { found, uninspected };
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test.each(boundRows)('$says', (row) => expectAnswers(row, kindsOf(row)));

const across: BoundRow = {
  says: 'OBSERVE alone, across the budget',
  core: observe,
  padding: 3_000,
  expected: { status: 200, found: 'window', uninspected: false },
};

test.each(kindsOf(across))('an attack across the budget is recorded: $says', async (kind) => {
  const body = kind.of(across.padding);
  const letters = [Buffer.from('evil'), Buffer.from('evil', 'utf16le')];
  const end = 2 + Math.max(...letters.map((text) => body.indexOf(text)));
  await expectAnswers({ ...across, core: { ...observe, requestBodyLimit: String(end) } }, [kind]);
});

async function expectAnswers(row: BoundRow, kinds: readonly BodyKind[]): Promise<void> {
  const { padding, expected, mode = 'blocking' } = row;
  const engine = await engineOf(row);
  const arrived: string[] = [];
  const origin = await httpOrigin(closing, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      arrived.push(digest(Buffer.concat(pieces)));
      response.end('ok');
    });
  });
  const site = siteFor(origin, { waf: { enabled: true, mode, failPolicy: 'closed' } });
  const fronts = [
    await startFront(closing, [site], engine),
    await startFront(closing, [site], late(engine)),
  ];
  for (const kind of kinds) {
    const body = kind.of(padding);
    for (const chunked of [false, true]) {
      for (const front of fronts) {
        arrived.length = 0;
        const seen = front.events.length;
        const text = await new RawClient(front.port).send(wireOf(kind.type, body, chunked)).all();
        const event = (await front.eventsReach(seen + 1))[seen]!;
        const where = `${kind.says}, ${chunked ? 'chunked' : 'with its length'}`;
        expect({ where, status: event.status }).toEqual({ where, status: expected.status });
        expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${expected.status}`);
        // All of it or nothing that an origin would take for a whole request.
        expect(arrived).toEqual(expected.status === 200 ? [digest(body)] : []);
        const { found, uninspected } = expected;
        if (found === undefined) continue;
        expect({ where, ...seenIn(event.transaction) }).toEqual({ where, found, uninspected });
      }
    }
    if (mode === 'blocking') expect(simulated(engine, kind.type, body)).toMatchObject(inTrial(row));
  }
}

function simulated(engine: PolicyEngine, type: string, body: Buffer) {
  const typed = type === '' ? [] : [`Content-Type: ${type}`];
  const lines = ['Host: a', ...typed, `Content-Length: ${body.length}`];
  const snapshot = {
    requestId: 'x',
    receivedAtMs: 0,
    siteId: 's',
    connection: makeConnection(),
    head: headFrom(['POST / HTTP/1.1', ...lines].join('\r\n')),
  };
  const { status, record } = simulateRequest(policyAlone(engine), { snapshot, body });
  return { status, ...seenIn(record) };
}

function inTrial({ expected }: BoundRow): object {
  const { status, ...seen } = expected;
  return { status: status === 200 ? 0 : status, ...seen };
}
