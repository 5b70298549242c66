/**
 * The family of a body and the body processor of the rules come from one reading: for every media
 * type of the table, with and without media types that the policy reads in its own way.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { inheritedBody } from '../../control/domain/documents/body-inheritance.ts';
import { renderBodyRules } from '../../control/domain/policy/policy-body-rules.ts';
import { bodyFamilyOf, processorReading } from '../../base/body-family.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import { headFrom } from '../../engine/rules/load/test-sample.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { readMediaType } from '../../engine/schema/media-type.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { builtPolicy } from '../support/built-policy.ts';

const httpPolicy = {
  bodyProcessorOverrides: [
    { contentTypePrefix: 'text/CSV', processor: 'BODY_PROCESSOR_JSON' as const },
    { contentTypePrefix: 'application/atom+xml', processor: 'BODY_PROCESSOR_XML' as const },
    { contentTypePrefix: 'application/json', processor: 'BODY_PROCESSOR_RAW' as const },
    { contentTypePrefix: 'text/plain', processor: 'BODY_PROCESSOR_URLENCODED' as const },
    { contentTypePrefix: 'multipart/form-data', processor: 'BODY_PROCESSOR_RAW' as const },
    { contentTypePrefix: 'text/csv', processor: 'BODY_PROCESSOR_XML' as const },
  ],
};
const policies = { plain: {}, own: httpPolicy } as const;
const engines = new Map<string, PolicyEngine>();

beforeAll(async () => {
  for (const [name, http] of Object.entries(policies)) {
    const rules = renderBodyRules({ crsCore: {}, httpPolicy: http, argLimits: {} });
    const probe = `SecRule REQBODY_PROCESSOR "@rx .*" \\
  "id:1,phase:2,t:none,pass,log,msg:'probe',logdata:'%{REQBODY_PROCESSOR}'"`;
    const seclangEntry = `SecRuleEngine On\nSecRequestBodyAccess On\n${probe}\n${rules}\n`;
    const source = { id: name, name, revision: '1', seclangEntry, files: new Map() };
    engines.set(name, await builtPolicy(source));
  }
});
afterAll(() => engines.forEach((engine) => engine.retire()));

/** What the rules read a body as. */
function readByRules(policy: string, type: string): string {
  const body = Buffer.from('x');
  const lines = ['POST / HTTP/1.1', 'Host: a.example', `Content-Type: ${type}`];
  const snapshot = {
    requestId: 'x',
    receivedAtMs: 0,
    siteId: 's',
    connection: makeConnection(),
    head: headFrom([...lines, `Content-Length: ${body.length}`].join('\r\n')),
  };
  const engine = policyAlone(engines.get(policy)!);
  const { record } = simulateRequest(engine, { snapshot, body });
  const probe = record!.matchedRules.find(({ ruleId }) => ruleId === 1);
  expect(probe).toBeDefined();
  return probe!.data;
}

const names: Readonly<Record<string, string>> = {
  JSON: 'json',
  XML: 'xml',
  URLENCODED: 'form',
  MULTIPART: 'multipart',
  '': 'none',
};

/** A media type, and its family without and with the policy's own readings. */
const rows: readonly (readonly [type: string, plain: string | null, own: string | null])[] = [
  ['application/json', 'json', null],
  ['Application/JSON; charset=utf-8', 'json', null],
  ['application/hal+json', 'json', 'json'],
  ['application/jsonp', null, null],
  ['application/hal+jsonx', null, null],
  ['text/json', null, null],
  ['image/x+json', null, null],
  ['application/xml', 'xml', 'xml'],
  ['text/xml;charset=utf-8', 'xml', 'xml'],
  ['application/soap+xml', 'xml', 'xml'],
  ['application/xml-dtd', null, null],
  ['application/atom+xml', null, 'xml'],
  ['image/svg+xml', null, null],
  ['application/x-www-form-urlencoded', 'form', 'form'],
  ['application/x-www-form-urlencodedx', null, null],
  ['multipart/form-data; boundary=b', 'multipart', 'multipart'],
  ['multipart/form-datax; boundary=b', null, null],
  ['multipart/mixed; boundary=b', 'binary', 'binary'],
  ['text/plain', 'text', null],
  ['text/csv', 'text', null],
  ['text/html', 'text', 'text'],
  ['application/octet-stream', 'binary', 'binary'],
  ['image/png', 'binary', 'binary'],
];

test.each(rows)('%s', (text, plain, own) => {
  for (const [policy, family] of [['plain', plain] as const, ['own', own] as const]) {
    const { readings } = inheritedBody({ httpPolicy: policies[policy] });
    const { type } = readMediaType(text)!;
    expect([policy, processorReading(type, readings)]).toEqual([
      policy,
      names[readByRules(policy, text)],
    ]);
    expect([policy, bodyFamilyOf(type, readings)]).toEqual([policy, family]);
  }
});
