/**
 * Runs recorded cases through the oracle: random rules over random requests for which
 * libmodsecurity 3.0.9 and the oracle gave the same answer (status, logged rules with their texts,
 * variables). A change that makes one differ is a change of what rules mean.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import type { RulePorts } from '../../engine/rules/transaction/ports.ts';
import { loadText } from '../../engine/rules/language/include.ts';
import {
  makeBody,
  makeConnection,
  makeRequest,
  makeResponse,
} from '../../engine/rules/oracle/conformance/exchange.ts';
import { evaluateTransaction } from '../../engine/rules/oracle/evaluate.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';

type Pairs = readonly (readonly [string, string])[];

/** One case; all texts are byte strings. */
interface Recorded {
  readonly area: string;
  readonly rules: string;
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly version: string;
    readonly headers: Pairs;
    readonly body: string | null;
  };
  readonly response: { readonly status: number; readonly headers: Pairs; readonly body: string };
  readonly expect: {
    readonly action: string;
    readonly status: number;
    readonly location: string;
    /** Rule id, message, data, then tags. */
    readonly logged: readonly (readonly (string | number)[])[];
    /** TX at the end as `name=value`, sorted. */
    readonly tx?: readonly string[];
  };
}

const settings = `SecRuleEngine On
SecRequestBodyAccess On
SecResponseBodyAccess On
SecResponseBodyMimeType text/html text/plain
`;

const ports: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map([['PATH', '/usr/bin']]),
};

const lines = readFileSync(path.join(import.meta.dirname, 'recorded.jsonl'), 'utf8').trim();
const cases = lines.split('\n').map((line) => JSON.parse(line) as Recorded);

function run(one: Recorded): Recorded['expect'] {
  const source = loadText(settings + one.rules, 'recorded.conf');
  const { program, diagnostics } = buildProgram(source, fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const { request, response } = one;
  const { method, uri, version, headers, body } = request;
  const protocol = `HTTP/${version}`;
  const exchange = {
    request: makeRequest(method, uri, protocol, headers, makeConnection()),
    requestBody: makeBody(body === null ? null : Buffer.from(body, 'latin1')),
    response: makeResponse(response.status, 'HTTP/1.1', response.headers),
    responseBody: makeBody(Buffer.from(response.body, 'latin1')),
  };
  const { verdict, matchedRules, variables } = evaluateTransaction(program, exchange, ports);
  const logged = matchedRules.filter(({ log }) => log);
  const passes = verdict.action === 'pass';
  return {
    action: verdict.action,
    status: passes ? 200 : verdict.status,
    location: verdict.location ?? '',
    logged: logged.map(({ ruleId, message, data, tags }) => [ruleId, message, data, ...tags]),
    ...(one.expect.tx && { tx: [...variables].map(([name, text]) => `${name}=${text}`).sort() }),
  };
}

/**
 * Backends read cookies without a name, what stands in quotes, and several Cookie fields as one;
 * libmodsecurity does not, so that such cases differ on purpose.
 */
function readsCookiesOtherwise({ request }: Recorded): boolean {
  const fields = request.headers.filter(([name]) => name.toLowerCase() === 'cookie');
  const cookies = fields.flatMap(([, value]) => value.split(';'));
  const odd = /^\s*=\s*\S|^[^=]*[^=\s][^=]*$|=\s*"/;
  return fields.length > 1 || cookies.some((cookie) => odd.test(cookie));
}

test('every recorded case gives what libmodsecurity gave', () => {
  const failures: string[] = [];
  const areas = new Map<string, number>();
  const comparable = cases.filter((one) => !readsCookiesOtherwise(one));
  for (const one of comparable) {
    areas.set(one.area, (areas.get(one.area) ?? 0) + 1);
    const got = JSON.stringify(run(one));
    const wanted = JSON.stringify(one.expect);
    if (got === wanted) continue;
    const request = JSON.stringify(one.request);
    failures.push(`${one.area}: ${one.rules}\n${request}\ngot ${got}\nexpected ${wanted}`);
  }
  for (const [area, count] of areas) console.log(`${area}: ${count} cases`);
  console.log(`left out: ${cases.length - comparable.length} cases of unusual cookies`);
  expect(failures.slice(0, 5)).toEqual([]);
  expect(comparable.length).toBeGreaterThan(600);
});
