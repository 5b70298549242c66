/** Alibaba Cloud DNS: TXT records by signed RPC calls. Credentials: accessKeyId and its secret. */

import { createHmac, randomUUID } from 'node:crypto';
import { callOut } from '../outgoing-call.ts';
import { dnsError, namedZone, namesAbove, required, saidBy, type MakeDriver } from './driver.ts';

const standardEndpoint = 'https://alidns.aliyuncs.com';

/** The driver. */
export const aliyun: MakeDriver = (account) => {
  const keyId = required(account.credentials, ['accessKeyId', 'access_key_id']);
  const secret = required(account.credentials, ['accessKeySecret', 'access_key_secret']);
  const endpoint = account.settings['endpoint'] ?? standardEndpoint;
  const ask = (action: string, fields: Readonly<Record<string, string>>) => {
    const all = {
      Action: action,
      Version: '2015-01-09',
      Format: 'JSON',
      AccessKeyId: keyId,
      SignatureMethod: 'HMAC-SHA1',
      SignatureVersion: '1.0',
      SignatureNonce: randomUUID(),
      Timestamp: new Date(account.nowMs()).toISOString().replace(/\.\d{3}/, ''),
      ...fields,
    };
    return callOut(
      { method: 'GET', url: `${endpoint}/?${signedQuery(all, secret)}` },
      account.call,
    );
  };
  return {
    add: async (name, value) => {
      const named = namedZone(account, name);
      for (const zone of named === null ? namesAbove(name) : [named]) {
        const RR = name.slice(0, -zone.length - 1);
        const record = { DomainName: zone, RR, Type: 'TXT', Value: value, TTL: '600' };
        const { status, text } = await ask('AddDomainRecord', record);
        if (status >= 300 && text.includes('InvalidDomainName')) continue;
        if (status >= 300) throw saidBy('Alibaba Cloud', status, text);
        const { RecordId = '' } = JSON.parse(text) as { RecordId?: string };
        return async () => {
          const removed = await ask('DeleteDomainRecord', { RecordId });
          if (removed.status >= 300) throw saidBy('Alibaba Cloud', removed.status, removed.text);
        };
      }
      throw dnsError(`Alibaba Cloud has no zone for ${name} in this account`);
    },
  };
};

/** Source: Alibaba Cloud, "Request signatures" of RPC APIs. */
function signedQuery(fields: Readonly<Record<string, string>>, secret: string): string {
  const pairs = Object.keys(fields)
    .sort()
    .map((name) => `${escape3986(name)}=${escape3986(fields[name] ?? '')}`)
    .join('&');
  const text = `GET&${escape3986('/')}&${escape3986(pairs)}`;
  const signature = createHmac('sha1', `${secret}&`).update(text).digest('base64');
  return `${pairs}&Signature=${escape3986(signature)}`;
}

function escape3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
