/**
 * Proof that the steps of a request lead to the same live and simulated: verdicts of both request
 * phases, detection, failed inspections, bodies past a limit, heads that are refused after the
 * rules. Each row runs twice live: with answers at once, and with answers that come later.
 */

import { afterEach, expect, test } from 'vitest';
import {
  Closing,
  blockWith,
  ScriptedInspector,
  type Script,
} from '../../engine/front/fixtures/fixture.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import { live, simulated, type BothCase, type Seen } from './both-ways.ts';

const closing = new Closing();
afterEach(() => closing.run());

interface Row {
  readonly says: string;
  readonly script: Script;
  readonly waf?: BothCase['waf'];
  readonly wire: string;
  readonly seen: Partial<Seen>;
}

const head = 'Host: a.example\r\nConnection: close\r\n';
const get = `GET / HTTP/1.1\r\n${head}\r\n`;
const post = (body: string): string =>
  `POST / HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`;
/** Well framed, and refused after the rules: two fields name the host. */
const twoHosts = `GET / HTTP/1.1\r\n${head}Host: b.example\r\n\r\n`;

const blocks1: Script = { head: () => blockWith(406, 1) };
const blocks2: Script = { body: () => blockWith(409, 2) };
const takes4 = (onExcess: 'reject' | 'prefix'): Script => ({
  bodyNeed: { inspect: true, limitBytes: 4, onExcess },
  body: (body) => (body?.truncated === true ? blockWith(410, 2) : blockWith(411, 2)),
});
const fails: Script = {
  head: () => {
    throw new Error('planted');
  },
};
const detection = { mode: 'detection' } as const;

const rows: readonly Row[] = [
  { says: 'a request passes', script: {}, wire: get, seen: { outcome: 'served' } },
  {
    says: 'a verdict of phase 1',
    script: blocks1,
    wire: get,
    seen: { outcome: 'blocked', status: 406 },
  },
  {
    says: 'a verdict of phase 2 without a body',
    script: blocks2,
    wire: get,
    seen: { outcome: 'blocked', status: 409 },
  },
  {
    says: 'detection records a verdict of phase 1',
    script: blocks1,
    waf: detection,
    wire: get,
    seen: { outcome: 'served' },
  },
  {
    says: 'detection records a verdict of phase 2',
    script: blocks2,
    waf: detection,
    wire: post('abc'),
    seen: { outcome: 'served' },
  },
  {
    says: 'a body within the limit is inspected whole',
    script: takes4('reject'),
    wire: post('abcd'),
    seen: { outcome: 'blocked', status: 411 },
  },
  {
    says: 'a body past the limit is refused',
    script: takes4('reject'),
    wire: post('abcde'),
    seen: { outcome: 'refused', status: 413, refusal: 'body_over_inspection_limit' },
  },
  {
    says: 'a body past the limit is refused in detection too',
    script: takes4('reject'),
    waf: detection,
    wire: post('abcde'),
    seen: { outcome: 'refused', status: 413, refusal: 'body_over_inspection_limit' },
  },
  {
    says: 'of a body past the limit the beginning is inspected',
    script: takes4('prefix'),
    wire: post('abcde'),
    seen: { outcome: 'blocked', status: 410 },
  },
  {
    says: 'a failed inspection under the policy closed',
    script: fails,
    wire: get,
    seen: { outcome: 'inspection_failed', status: 503, failure: 'internal' },
  },
  {
    says: 'a failed inspection under the policy closed, in detection',
    script: fails,
    waf: detection,
    wire: get,
    seen: { outcome: 'inspection_failed', status: 503, failure: 'internal' },
  },
  {
    says: 'a failed inspection under the policy open',
    script: fails,
    waf: { failPolicy: 'open' },
    wire: get,
    seen: { outcome: 'served', failure: 'internal' },
  },
  {
    says: 'a bad head is refused after the rules',
    script: {},
    wire: twoHosts,
    seen: { outcome: 'refused', status: 400, refusal: 'host_twice' },
  },
  {
    says: 'a verdict comes before the refusal of a bad head',
    script: blocks1,
    wire: twoHosts,
    seen: { outcome: 'blocked', status: 406 },
  },
  {
    says: 'a bad head is refused after a verdict that is only recorded',
    script: blocks1,
    waf: detection,
    wire: twoHosts,
    seen: { outcome: 'refused', status: 400, refusal: 'host_twice' },
  },
  {
    says: 'a bad head is refused after a failed inspection under the policy open',
    script: fails,
    waf: { failPolicy: 'open' },
    wire: twoHosts,
    seen: { outcome: 'refused', status: 400, refusal: 'host_twice', failure: 'internal' },
  },
];

const nothing: Seen = { status: 0, outcome: '', refusal: '', guards: [], failure: '' };

function inspectorOf(script: Script, later: boolean): Inspector {
  return new ScriptedInspector({ ...script, later });
}

test.each(rows)('$says', async ({ script, waf, wire, seen }) => {
  const expected = { ...nothing, ...seen };
  const one = { wire, ...(waf && { waf }) };
  const now = { ...one, inspector: inspectorOf(script, false) };
  expect(simulated(now).seen).toEqual(expected);
  expect((await live(closing, now)).seen).toEqual(expected);
  const late = await live(closing, { ...one, inspector: inspectorOf(script, true) });
  expect(late.seen).toEqual(expected);
});
