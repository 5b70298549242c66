/**
 * Proves that a security event shows no value of a password-like field, whatever the kind of body
 * and whichever variable a rule matched it in. Runs rules, front and encoding without sockets.
 */

import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, expect, test } from 'vitest';
import { sampleEvent } from '../../../test/support/sample-event.ts';
import { SecurityFactSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { toByteString } from '../../../base/byte-string.ts';
import { systemClock } from '../../../base/clock.ts';
import { createLogger } from '../../../base/log.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { TransactionRecord } from '../../contract/verdict.ts';
import { encodeFact } from '../../link/security-fact.ts';
import { fullCatalog } from '../../rules/features/full-catalog.ts';
import { requestFrom } from '../../rules/load/test-sample.ts';
import { loadText } from '../../rules/language/include.ts';
import { buildPlan } from '../../rules/plan/build-plan.ts';
import { buildProgram } from '../../rules/program/build-program.ts';
import { PolicyEngine } from '../../rules/run/policy-engine.ts';
import { hideValues } from './hide-values.ts';

const variables = [
  'ARGS|ARGS_NAMES|FILES|FILES_NAMES',
  'REQUEST_HEADERS|REQUEST_COOKIES|REQUEST_BODY|FULL_REQUEST',
  'QUERY_STRING|REQUEST_URI|REQUEST_URI_RAW|REQUEST_LINE|REQUEST_FILENAME',
  'XML:/*|XML://@*|ARGS_COMBINED_SIZE',
];
const logData = "logdata:'Matched Data: %{TX.0} found within %{MATCHED_VAR_NAME}: %{MATCHED_VAR}'";
const shapes = ['t:none', 't:urlDecodeUni', 't:urlDecodeUni,t:htmlEntityDecode,t:lowercase'];
const rules = [
  'SecRuleEngine On',
  'SecRequestBodyAccess On',
  ...['JSON', 'XML'].map((name, n) => {
    const actions = `id:${n + 1},phase:1,t:uppercase,pass,nolog,ctl:requestBodyProcessor=${name}`;
    return `SecRule REQUEST_HEADERS:Content-Type "${name}" "${actions}"`;
  }),
  'SecAction "id:3,phase:1,pass,nolog,ctl:forceRequestBodyVariable=On"',
  ...variables.flatMap((list, n) =>
    shapes.map((shape, m) => {
      const id = 100 + 10 * n + m;
      const texts = `msg:'m %{MATCHED_VAR}',${logData}`;
      const actions = `id:${id},phase:2,pass,log,capture,${shape},${texts}`;
      return `SecRule ${list} "@rx (?i).{0,9}or(?: |\\+|%20)1.{0,9}" "${actions},severity:2"`;
    }),
  ),
  'SecRule ARGS:password "@rx Zebra" "id:90,phase:2,pass,log,chain"',
  `SecRule MATCHED_VAR "@rx z.*" "id:91,capture,t:hexEncode,t:hexDecode,t:lowercase,${logData}"`,
].join('\n');

const { program, diagnostics } = buildProgram(loadText(rules, 't.conf'), fullCatalog, () => null);
if (program === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
const ports = { clock: systemClock, collections: null, geo: null, rbl: null, env: new Map() };
const cache = { get: () => null, put: () => undefined };
const log = createLogger('test', 'error');
const engine = new PolicyEngine(buildPlan(program, { cache, log, ports }), ports);
afterAll(() => engine.retire());

const secret = "Zebra_42' or 1=1 --";
const encoded = encodeURIComponent(secret);

function post(type: string, body: string): [head: string, body: string] {
  return [`POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}`, body];
}

const part = `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}\r\n--b--\r\n`;

test.each<[string, [head: string, body: string]]>([
  ['form', post('application/x-www-form-urlencoded', `user=a&password=${encoded}&x=1`)],
  ['form, not encoded', post('application/x-www-form-urlencoded', `pwd=${secret}&x=1`)],
  ['JSON', post('application/json', JSON.stringify({ user: 'a', auth: { password: secret } }))],
  ['JSON, broken', post('application/json', `{"user":"a","password":"${secret}`)],
  ['JSON as a form', post('application/x-www-form-urlencoded', `{"password":"${secret}"}`)],
  ['XML element', post('text/xml', `<r><user>a</user><password>${secret}</password></r>`)],
  ['XML references', post('text/xml', `<r><pwd>${secret.replace("'", '&#39;')}</pwd></r>`)],
  ['XML attribute', post('text/xml', `<r><user password="${secret}"/></r>`)],
  ['multipart', post('multipart/form-data; boundary=b', part)],
  ['text', post('text/plain', `password=${secret}`)],
  ['query', [`GET /?a=1&api_key=${encoded} HTTP/1.1\r\nHost: a`, '']],
  ['cookie', [`GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1; auth_token=${secret}`, '']],
  ['header', [`GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}`, '']],
  ['referer', [`GET / HTTP/1.1\r\nHost: a\r\nReferer: http://a/?token=${encoded}`, '']],
])('%s', (_, [head, body]) => {
  const session = engine.open(requestFrom(head));
  session.requestHead();
  session.requestBody(body === '' ? null : { bytes: Buffer.from(body), truncated: false });
  const record = session.finish();
  expect(record.matchedRules.length).toBeGreaterThan(0);
  // The record itself, which evidence is made of, is as it was.
  expect(JSON.stringify(record.matchedRules).toLowerCase()).toContain('zebra');
  const shown = hideValues(eventOf(head, record));
  const { bytes } = encodeFact(shown)!;
  const fact = fromBinary(SecurityFactSchema, bytes);
  expect(fact.matches.length).toBeGreaterThan(0);
  const sent = [
    fact.target,
    fact.userAgent,
    ...fact.matches.flatMap((one) => one.matched.flatMap(({ name, value }) => [name, value])),
    ...fact.matches.flatMap(({ message, data }) => [Buffer.from(message), Buffer.from(data)]),
  ];
  for (const text of [JSON.stringify(shown), Buffer.concat(sent).toString('latin1')]) {
    expect(text).toContain('****');
    for (const piece of ['zebra', 'ebra', "42'", '42%27', '1=1', '1%3d1']) {
      expect(text.toLowerCase()).not.toContain(piece);
    }
  }
});

function eventOf(head: string, transaction: TransactionRecord): RequestEvent {
  const target = toByteString(Buffer.from(head.split(' ')[1]!));
  return sampleEvent({ target, status: 403, blocked: true, transaction });
}
