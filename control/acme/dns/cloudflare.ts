/** Cloudflare: TXT records through its API, version 4. Credentials: apiToken. */

import { callOut } from '../outgoing-call.ts';
import { dnsError, namedZone, namesAbove, required, saidBy, type MakeDriver } from './driver.ts';

const standardEndpoint = 'https://api.cloudflare.com/client/v4';

interface Answer {
  readonly result?: unknown;
}

/** The driver. */
export const cloudflare: MakeDriver = (account) => {
  const token = required(account.credentials, ['apiToken', 'api_token', 'token']);
  const endpoint = account.settings['endpoint'] ?? standardEndpoint;
  const ask = async (method: string, path: string, body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const call = { method, url: `${endpoint}${path}`, headers, ...content };
    const { status, text } = await callOut(call, account.call);
    if (status >= 300) throw saidBy('Cloudflare', status, text);
    return JSON.parse(text) as Answer;
  };
  const zoneId = async (name: string): Promise<string> => {
    const named = namedZone(account, name);
    for (const zone of named === null ? namesAbove(name) : [named]) {
      const { result } = await ask('GET', `/zones?name=${encodeURIComponent(zone)}`);
      const id = idOf(Array.isArray(result) ? result[0] : null);
      if (id !== '') return id;
    }
    throw dnsError(`Cloudflare has no zone for ${name} in this account`);
  };
  return {
    add: async (name, value) => {
      const zone = await zoneId(name);
      const record = { type: 'TXT', name, content: value, ttl: 60 };
      const id = idOf((await ask('POST', `/zones/${zone}/dns_records`, record)).result);
      return async () => {
        await ask('DELETE', `/zones/${zone}/dns_records/${id}`);
      };
    },
  };
};

/** Identifiers are hexadecimal; anything else would change the path of a call. */
function idOf(value: unknown): string {
  const { id } = (value ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : '';
}
