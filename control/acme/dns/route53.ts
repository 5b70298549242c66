/**
 * Amazon Route 53: TXT records by calls signed with Signature Version 4. Credentials: accessKeyId,
 * secretAccessKey, and sessionToken for temporary ones. Settings: hostedZoneId.
 */

import { createHash, createHmac } from 'node:crypto';
import { callOut } from '../outgoing-call.ts';
import { dnsError, namedZone, namesAbove, required, saidBy } from './driver.ts';
import type { DnsAccount, MakeDriver } from './driver.ts';

const standardEndpoint = 'https://route53.amazonaws.com';
/** The global endpoint is signed for this region. */
const region = 'us-east-1';
const zonePattern = /<HostedZone>\s*<Id>\/hostedzone\/([A-Z0-9]+)<\/Id>\s*<Name>([^<]+)\.<\/Name>/;

/** The driver. */
export const route53: MakeDriver = (account) => ({
  add: async (name, value) => {
    const zone = await zoneId(account, name);
    const path = `/2013-04-01/hostedzone/${zone}/rrset`;
    const change = async (action: string): Promise<void> => {
      const body = changeBatch(action, name, value);
      const { status, text } = await ask(account, 'POST', path, '', body);
      if (status >= 300) throw saidBy('Route 53', status, text);
    };
    await change('UPSERT');
    return () => change('DELETE');
  },
});

async function zoneId(account: DnsAccount, name: string): Promise<string> {
  const given = account.settings['hostedZoneId'] ?? '';
  if (/^[A-Z0-9]{1,32}$/.test(given)) return given;
  const named = namedZone(account, name);
  for (const zone of named === null ? namesAbove(name) : [named]) {
    const query = `dnsname=${encodeURIComponent(zone)}&maxitems=1`;
    const answer = await ask(account, 'GET', '/2013-04-01/hostedzonesbyname', query, '');
    if (answer.status >= 300) throw saidBy('Route 53', answer.status, answer.text);
    const found = zonePattern.exec(answer.text);
    if (found?.[2] === zone) return found[1] ?? '';
  }
  throw dnsError(`Route 53 has no hosted zone for ${name} in this account`);
}

function changeBatch(action: string, name: string, value: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>' +
    '<ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/">' +
    `<ChangeBatch><Changes><Change><Action>${action}</Action><ResourceRecordSet>` +
    `<Name>${name}.</Name><Type>TXT</Type><TTL>60</TTL><ResourceRecords><ResourceRecord>` +
    `<Value>"${value}"</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>` +
    '</Change></Changes></ChangeBatch></ChangeResourceRecordSetsRequest>'
  );
}

function ask(account: DnsAccount, method: string, path: string, query: string, body: string) {
  const endpoint = account.settings['endpoint'] ?? standardEndpoint;
  const url = `${endpoint}${path}${query === '' ? '' : `?${query}`}`;
  const headers = signedHeaders(account, { method, path, query, body, host: new URL(url).host });
  const content = body === '' ? {} : { body };
  return callOut({ method, url, headers, ...content }, account.call);
}

interface SignedCall {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string;
  readonly host: string;
}

/** Source: AWS, "Create a signed AWS API request". */
function signedHeaders(account: DnsAccount, call: SignedCall): Record<string, string> {
  const keyId = required(account.credentials, ['accessKeyId', 'access_key_id']);
  const secret = required(account.credentials, ['secretAccessKey', 'secret_access_key']);
  const session = account.credentials['sessionToken'] ?? '';
  const time = new Date(account.nowMs()).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const fields: Record<string, string> = { host: call.host, 'x-amz-date': time };
  if (session !== '') fields['x-amz-security-token'] = session;
  const names = Object.keys(fields).sort();
  const canonical = [
    call.method,
    call.path,
    call.query,
    ...names.map((name) => `${name}:${fields[name]}`),
    '',
    names.join(';'),
    sha256(call.body),
  ].join('\n');
  const scope = `${day}/${region}/route53/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [day, region, 'route53', 'aws4_request'].reduce<Buffer>(
    (last, part) => createHmac('sha256', last).update(part).digest(),
    Buffer.from(`AWS4${secret}`),
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const { host: _host, ...sent } = fields;
  const signed = `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return {
    ...sent,
    'content-type': 'text/xml',
    authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, ${signed}`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
