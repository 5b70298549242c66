/**
 * The product as the chain's table uses it: control, an engine with and without TLS, origins that
 * say what they got, and the events by request id.
 */

import path from 'node:path';
import { openEvents, type EventJson } from '../agree/event-reader.ts';
import { startLiveWaf, type LiveWaf } from '../agree/live-waf.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import {
  makeRevocationList,
  makeTestCertificate,
  type TestCertificate,
} from '../support/test-certificates.ts';
import { balancers } from './chain-client.ts';
import { startChainOrigin } from './chain-origin.ts';
import { domain, type SetupCall } from './chain-row.ts';

/** Calls that are on their way at a time. */
const callsAtOnce = 16;

/** The running product with its resources. */
export interface ChainWaf {
  readonly live: LiveWaf;
  readonly securePort: number;
  /** Certificates of clients, by name. */
  readonly certificates: ReadonlyMap<string, TestCertificate>;
  /** Ids by kind and key: `site:exact`. */
  readonly ids: ReadonlyMap<string, string>;
  /** Makes changes, and waits until they are served. */
  change(calls: readonly SetupCall[]): Promise<void>;
  /** The event of a request, by its id. */
  eventOf(requestId: string): Promise<EventJson>;
  close(): Promise<void>;
}

/** Starts it and makes every resource in few publications; `names` are those in the certificate. */
export async function startChainWaf(
  setup: readonly SetupCall[],
  names: readonly string[],
): Promise<ChainWaf> {
  const securePort = await freePort();
  const live = await startLiveWaf({ securePort, proxyHeaderFrom: balancers });
  const origins = await Promise.all(
    ['a', 'b', 'c', 'ill', 'cuts', 'calls', 'auth'].map(startChainOrigin),
  );
  const ids = new Map<string, string>();
  const certificates = await makeClientCertificates(ids);
  await live.serve(async () => {
    const { cert, key } = await makeTestCertificate({ names: [domain, ...names] });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const upload = { name: 'chain', certPem: base64(cert), keyPem: base64(key) };
    const pools = origins.map(({ name, url }): SetupCall => {
      ids.set(`origin:${name}`, url);
      const upstream = { name: `pool ${name}`, endpoints: [{ url, weight: 1 }] };
      return { rpc: 'UpstreamService/CreateUpstream', body: { upstream }, as: `pool:${name}` };
    });
    const uploads = { rpc: 'CertService/UploadCert', body: upload, as: 'cert:chain' };
    await carryOutTogether(live, ids, [uploads, ...pools, ...setup]);
  });
  await probed(live, ids, setup);
  const file = path.join(live.control.folder, 'events.jsonl');
  const events = openEvents(file, (event) => String(event['requestId']));
  return {
    live,
    securePort,
    certificates,
    ids,
    change: (calls) =>
      live.serve(async () => {
        for (const call of calls) await carryOut(live, ids, call);
      }),
    eventOf: (requestId) => events.take(requestId),
    close: async () => {
      events.close();
      await live.close();
      for (const origin of origins) origin.close();
    },
  };
}

/** Certificates of clients, and the authorities that setup calls name, as JSON holds them. */
async function makeClientCertificates(
  ids: Map<string, string>,
): Promise<ReadonlyMap<string, TestCertificate>> {
  const made = new Map<string, TestCertificate>();
  for (const name of ['ours', 'other']) {
    const issuer = await makeTestCertificate({ subject: `CN=${name}`, authority: true });
    ids.set(`authority:${name}`, JSON.stringify(issuer.cert).slice(1, -1));
    const client = { subject: 'O=Ours, CN=ann', issuer, usages: ['1.3.6.1.5.5.7.3.2'] };
    made.set(name, await makeTestCertificate(client));
    if (name === 'other') continue;
    const several = { ...client, subject: 'O=Ours \\+ more, OU=a+CN=eve' };
    made.set('several', await makeTestCertificate(several));
    made.set('late', await makeTestCertificate({ ...client, fromDays: -9, toDays: -1 }));
    const revoked = await makeTestCertificate(client);
    made.set('revoked', revoked);
    const lists = {
      ours: await makeRevocationList(issuer, [revoked]),
      late: await makeRevocationList(issuer, [], { fromDays: -9, toDays: -1 }),
      other: await makeRevocationList(
        await makeTestCertificate({ subject: 'CN=third', authority: true }),
        [],
      ),
    };
    for (const [key, list] of Object.entries(lists)) {
      ids.set(`crl:${key}`, JSON.stringify(list).slice(1, -1));
    }
    made.set('server', await makeTestCertificate({ ...client, usages: ['1.3.6.1.5.5.7.3.1'] }));
  }
  return made;
}

/**
 * Carries out calls, some at a time: each answer waits for a publication, which they share. A call
 * comes after those that make what it names, and after those before it that concern the same site
 * or policy, or like itself neither.
 */
async function carryOutTogether(
  live: LiveWaf,
  ids: Map<string, string>,
  calls: readonly SetupCall[],
): Promise<void> {
  const made = new Map<string, Promise<void>>();
  const last = new Map<string, Promise<void>>();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      const { as, body } = call;
      const text = JSON.stringify(body);
      const named = [...text.matchAll(/\$([a-z]+:[\w-]+)/g)].map(([, name = '']) => name);
      const parts = named.filter((name) => /^(?:site|policy):/.test(name));
      const concerns = parts.length > 0 || as !== undefined ? parts : ['neither'];
      const before = [
        ...named.map((name) => made.get(name)),
        ...concerns.map((at) => last.get(at)),
      ];
      const done = Promise.all(before).then(() => carryOut(live, ids, call));
      if (as !== undefined) made.set(as, done);
      for (const at of concerns) last.set(at, done);
      await done;
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, lane));
}

async function carryOut(live: LiveWaf, ids: Map<string, string>, call: SetupCall): Promise<void> {
  let text = JSON.stringify(call.body).replaceAll(
    /\$((?:policy|site|list|pool|cert|origin|authority|crl):[\w-]+)/g,
    (_, name: string) => {
      const id = ids.get(name);
      if (id === undefined) throw new Error(`${call.rpc}: nothing is called ${name}`);
      return id;
    },
  );
  if (text.includes('$revision')) {
    const { policyId, policy } = JSON.parse(text) as {
      policyId?: string;
      policy?: { id: string };
    };
    const id = policyId ?? policy?.id ?? '';
    const { policy: present } = await live.ask('PolicyService/GetPolicy', { id });
    text = text.replaceAll('$revision', (present as { revision: string }).revision);
  }
  const answer = await live.ask(call.rpc, JSON.parse(text));
  if (call.as === undefined) return;
  const made = Object.values(answer).find(
    (value) => typeof value === 'object' && value !== null && 'id' in value,
  ) as { id: string };
  ids.set(call.as, made.id);
}

/** The paths of a pool that may be probed. */
interface Probed {
  readonly healthCheck?: { readonly path: string };
  readonly endpoints?: readonly { readonly healthCheckPath?: string }[];
}

/** Resolves when every address that is probed has been; what is not probed stays unknown. */
async function probed(
  live: LiveWaf,
  ids: ReadonlyMap<string, string>,
  setup: readonly SetupCall[],
): Promise<void> {
  const upstreamIds = setup.flatMap(({ body, as = '' }) => {
    const { healthCheck, endpoints = [] } = (body['upstream'] ?? {}) as Probed;
    const paths = [healthCheck?.path, ...endpoints.map((one) => one.healthCheckPath)];
    return paths.some(Boolean) ? [ids.get(as)!] : [];
  });
  await eventually(async () => {
    const { items } = await live.ask('UpstreamService/ListUpstreamHealth', { upstreamIds });
    return (items as { status: string }[]).every(({ status }) => status !== 'unknown');
  });
}
