/**
 * A long gRPC body is read as messages after the request body limit, too: a rule on one field finds
 * what stands in it at any depth of the body, and nothing that stands in other fields.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { headFrom } from '../../engine/rules/load/test-sample.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { builtPolicy } from '../support/built-policy.ts';

const rule = 4_200;
let engine: PolicyEngine;

beforeAll(async () => {
  const light = builtInTemplates.find(({ name }) => name === 'Light')!;
  const crsCore = { ...light.crsCore, decision: 'DECISION_CRS' as const };
  const argLimits = { maxNumArgs: 100_000, totalArgLength: 10_000_000 };
  const deny = `id:${rule},phase:2,deny,status:403,log,t:none`;
  const beforeCrs = `SecRule ARGS:grpc.2.3 "@rx ^evil$|one long evil text" "${deny}"\n`;
  const { seclang } = renderPolicy({ ...light, crsCore, argLimits }, null, { beforeCrs });
  const source = { id: 's', name: 's', revision: '1', seclangEntry: seclang, files: new Map() };
  engine = await builtPolicy(source);
});
afterAll(() => engine.retire());

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) | 128);
  }
}
const field = (number: number, content: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
};
function framed(content: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

/** Fields of ordinary text, as many bytes as that. */
const filler = (bytes: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes / 1_004) }, () => field(1, 'word '.repeat(200))),
  );

function rulesOf(body: Buffer, type = 'application/grpc'): number[] {
  const sent = type.endsWith('-text') ? Buffer.from(body.toString('base64')) : body;
  const lines = ['Host: a.example', `Content-Type: ${type}`, `Content-Length: ${sent.length}`];
  const snapshot = {
    ...{ requestId: 'x', receivedAtMs: 0, siteId: 's', grpcFields: true },
    connection: makeConnection(),
    head: headFrom(['POST /a.B/C HTTP/1.1', ...lines].join('\r\n')),
  };
  const { status, record } = simulateRequest(policyAlone(engine), { snapshot, body: sent });
  const rules = record!.matchedRules.map(({ ruleId }) => ruleId).filter((id) => id === rule);
  expect(status).toBe(rules.length > 0 ? 403 : 0);
  return rules;
}

test.each([1_000, 70_000, 140_000, 300_000])('a field after %i bytes has its name', (bytes) => {
  const wrap = (number: number, text: string): Buffer =>
    framed(Buffer.concat([filler(bytes), field(2, field(number, text))]));
  for (const type of ['application/grpc', 'application/grpc-web-text']) {
    expect(rulesOf(wrap(3, 'evil'), type)).toEqual([rule]);
    expect(rulesOf(wrap(4, 'evil'), type)).toEqual([]);
    expect(rulesOf(wrap(3, 'not evil'), type)).toEqual([]);
  }
});

test('a text longer than a window continues as the same field', () => {
  const text = (last: string): string => `${'word '.repeat(60_000)}${last}`;
  const wrap = (number: number, last: string): Buffer =>
    framed(field(2, Buffer.concat([field(1, 'first'), field(number, text(last))])));
  expect(rulesOf(wrap(3, 'one long evil text'))).toEqual([rule]);
  expect(rulesOf(wrap(4, 'one long evil text'))).toEqual([]);
});

test.each([
  [
    'in zstd',
    'compression=zstd&encoding=json&base64=1&message=KLUv_QBoiQAAeyJxIjoiaGVsbG8gYWxsIn0',
    [],
  ],
  ['in lz4', 'compression=lz4&encoding=json&base64=1&message=BCJNGGRApw', [199_407]],
  ['that is not what it says', 'compression=gzip&encoding=json&message=hello', [199_407]],
  ['as it is', 'encoding=json&message=%7B%22q%22%3A%22hello%22%7D', []],
])('a message of Connect in a query %s', (_, query, expected) => {
  const snapshot = {
    ...{ requestId: 'x', receivedAtMs: 0, siteId: 's', grpcFields: true },
    connection: makeConnection(),
    head: headFrom(`GET /a.B/C?connect=v1&${query} HTTP/1.1\r\nHost: a.example`),
  };
  const { status, record } = simulateRequest(policyAlone(engine), { snapshot, body: null });
  const ids = record!.matchedRules.map(({ ruleId }) => ruleId);
  expect(ids.filter((id) => id === 199_407)).toEqual(expected);
  expect(status).toBe(expected.length > 0 ? 400 : 0);
});
