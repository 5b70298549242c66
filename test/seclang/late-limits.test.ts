/**
 * Runs policies whose rules reach a limit of inspection while they run, and answers of which only
 * the beginning is inspected: Light records both, Standard refuses the first.
 */

import { expect, test } from 'vitest';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { headFrom, responseFrom } from '../../engine/rules/load/test-sample.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { builtPolicy } from '../support/built-policy.ts';

const selector = '//b'.repeat(9);
const costly = `SecRule XML:${selector} "@streq nothing" "id:1,phase:2,deny,status:403,log"`;

test.each([
  ['Light', 0],
  ['Standard', 413],
] as const)('%s: what rules reach while they run, and a cut answer', async (name, status) => {
  const template = builtInTemplates.find((one) => one.name === name)!;
  const crsCore = { ...template.crsCore, responseBodyAccess: true, responseBodyLimit: '100' };
  const { seclang } = renderPolicy({ ...template, crsCore }, null, { afterCrs: costly });
  const source = { id: name, name, revision: '1', seclangEntry: seclang, files: new Map() };
  const engine = await builtPolicy(source);
  const ask = (body: string) => {
    const lines = ['Host: a.example', 'Content-Type: text/xml', `Content-Length: ${body.length}`];
    const snapshot = {
      requestId: 'x',
      receivedAtMs: 0,
      siteId: 's',
      connection: makeConnection(),
      head: headFrom(['POST / HTTP/1.1', ...lines].join('\r\n')),
    };
    const answer = {
      head: responseFrom('HTTP/1.1 200 OK\r\nContent-Type: text/html'),
      body: Buffer.from('x'.repeat(200)),
    };
    const request = { snapshot, body: Buffer.from(body), answer };
    const { status: got, record } = simulateRequest(policyAlone(engine), request);
    const rules = record!.matchedRules.map(({ ruleId }) => ruleId);
    return { got, rules, limits: record!.limitsReached };
  };
  const deep = ask(`${'<b>'.repeat(250)}${'</b>'.repeat(250)}`);
  expect(deep.limits).toContain('xpath-nodes');
  expect(deep.rules).toContain(199_405);
  expect(deep.got).toBe(status);
  expect(ask('<a/>')).toEqual({ got: 0, rules: [199_406], limits: ['response-bytes'] });
  engine.retire();
});
