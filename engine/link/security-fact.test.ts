/** Tests that facts are encoded as their schema says, whichever texts were encoded before. */

import { fromBinary, toJson } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SecurityMatchSchema } from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import { SecurityFactBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { linkLimits } from '../base/observation-limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { MatchedRule } from '../contract/verdict.ts';
import { encodeFact, encodeFactBatch, toSecurityMatch } from './security-fact.ts';

const ruleOf = (over: Partial<MatchedRule> = {}): MatchedRule => ({
  ruleId: 942100,
  phase: 2,
  message: 'SQL injection \u00c3\u00a9',
  data: 'found 1',
  severity: 2,
  tags: ['attack-sqli', 'OWASP_CRS'],
  operator: '@detectSQLi',
  matched: [{ name: 'ARGS:q', value: "1' or 1=1\u00ff" }],
  disruptive: false,
  file: 'sqli.conf',
  line: 7,
  rev: '',
  ver: '',
  maturity: 0,
  accuracy: 0,
  log: true,
  auditLog: true,
  ...over,
});

const eventOf = (matchedRules: readonly MatchedRule[]): RequestEvent => ({
  requestId: 'r1',
  siteId: 's',
  receivedAtMs: 1_700_000_000_000,
  durationUs: 12,
  originUs: -1,
  clientIp: '10.0.0.1',
  clientPort: 1,
  method: 'GET',
  host: 'a',
  target: '/?q=1',
  httpVersion: 'HTTP/1.1',
  userAgent: 'u',
  status: 403,
  outcome: 'blocked',
  blocked: true,
  refusal: null,
  bytesIn: 0,
  bytesOut: 9,
  endpoint: null,
  transaction: {
    verdict: { action: 'block', status: 403, ruleId: 942100, phase: 2 },
    matchedRules,
    inboundScore: 5,
    outboundScore: 0,
    detectionOnly: false,
    inspectionUs: 3,
  },
});

/** Facts as control reads them. */
const roundTrip = (
  ...events: readonly RequestEvent[]
): ReturnType<typeof fromBinary<typeof SecurityFactBatchSchema>>['facts'] =>
  fromBinary(SecurityFactBatchSchema, encodeFactBatch(events.map((event) => encodeFact(event)!)))
    .facts;

const plain = (rule: MatchedRule): unknown => toJson(SecurityMatchSchema, toSecurityMatch(rule));

test('a batch is read as what its events say', () => {
  const rules = [ruleOf(), ruleOf({ ruleId: 1, tags: [], message: '', severity: -1, matched: [] })];
  const [first, second] = roundTrip(eventOf(rules), eventOf([]));
  expect(first!.matches.map((match) => toJson(SecurityMatchSchema, match))).toEqual(
    rules.map(plain),
  );
  expect(first).toMatchObject({ requestId: 'r1', status: 403, inboundScore: 5, blocked: true });
  expect(first!.receivedAtMs).toBe(1_700_000_000_000n);
  expect(first!.matches[0]!.message).toBe('SQL injection \u00e9');
  expect(second!.matches).toEqual([]);
});

test('texts that were encoded for one rule are not taken for another', () => {
  const variants: Partial<MatchedRule>[] = [
    {},
    { phase: 1 },
    { message: 'other' },
    { severity: 3 },
    { tags: ['attack-sqli'] },
    { tags: ['attack-sqli', 'OWASP_CRS', 'x'] },
    { tags: ['attack-sqli","OWASP_CRS'] },
    { operator: '@rx' },
    { file: 'b.conf' },
    { line: 8 },
    { ruleId: 2 },
    { data: 'found 2', disruptive: true, matched: [] },
  ];
  const rules = [...variants, ...variants].map(ruleOf);
  const [fact] = roundTrip(eventOf(rules));
  expect(fact!.matches.map((match) => toJson(SecurityMatchSchema, match))).toEqual(
    rules.map(plain),
  );
});

test('texts that never repeat are not kept for ever', () => {
  for (let at = 0; at < linkLimits.ruleTextsMax * 2 + 3; at++) {
    const rule = ruleOf({ message: `m${at}` });
    const [fact] = roundTrip(eventOf([rule]));
    expect(fact!.matches[0]!.message).toBe(`m${at}`);
  }
});

test('only what was logged, blocked or refused is a fact', () => {
  const served = {
    ...eventOf([ruleOf({ log: false })]),
    outcome: 'served',
    blocked: false,
  } as const;
  expect(encodeFact(served)).toBeNull();
  expect(encodeFact({ ...served, outcome: 'refused' })).not.toBeNull();
});

test('a rule that ran into a limit makes a fact that names it, also where nothing matched', () => {
  const event = eventOf([]);
  const passed = { ...event, status: 200, outcome: 'served', blocked: false } as const;
  expect(encodeFact(passed)).toBeNull();
  const transaction = { ...event.transaction!, pcreLimitedRules: [7, 9] };
  const fact = encodeFact({ ...passed, transaction })!;
  const [read] = fromBinary(SecurityFactBatchSchema, encodeFactBatch([fact])).facts;
  expect(read?.pcreLimitedRules).toEqual([7, 9]);
});

test('a limit of inspection that was reached makes a fact that names it', () => {
  const event = eventOf([]);
  const passed = { ...event, status: 200, outcome: 'served', blocked: false } as const;
  const transaction = { ...event.transaction!, limitsReached: ['body-bytes'] };
  const fact = encodeFact({ ...passed, transaction })!;
  const [read] = fromBinary(SecurityFactBatchSchema, encodeFactBatch([fact])).facts;
  expect(read?.limitsReached).toEqual(['body-bytes']);
});

test('a finding of an API document arrives as it was, whatever its characters are', () => {
  const finding = {
    ...{ contractId: 'c', operationKey: 'GET a/\u00e4', location: 'query', keyword: 'type' },
    pointer: '/paths/~1\u00e4/\u4e2d at x',
  };
  const note = { guard: 'schema', action: 'deny', reason: 'schema_violation' } as const;
  const rest = { ruleId: 'GET a/\u00e4', detail: '', skipped: [] };
  const [fact] = roundTrip({ ...eventOf([]), guards: [{ ...note, ...rest, finding }] });
  expect(fact!.guards[0]!.finding).toMatchObject(finding);
});
