/**
 * Runs the table of rules on sites, upstreams, certificates, groups, nodes and settings, one line
 * of resource-rules.jsonl a rule, in order, and counts what ran. `$name` in a line stands for what
 * an earlier line kept, or for a certificate that is made here.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makeTestCertificate,
  type TestCertificate,
} from '../../../test/support/test-certificates.ts';
import { makeTestMmdb } from '../../../test/support/test-mmdb.ts';
import { expectRow, readRuleRows, RuleTable } from '../../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { CounterBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { systemClock } from '../../../base/clock.ts';
import { metricPayloadVersion } from '../../../base/protocol-versions.ts';
import { durationBoundsSeconds, openCounterStore } from '../../observe/counter-store.ts';
import { openNodeLoadStore } from '../../observe/node-load.ts';
import { agents } from '../../store/collections.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { openStore } from '../../store/store.ts';

const rows = readRuleRows(new URL('resource-rules.jsonl', import.meta.url));
const table = new RuleTable(['s3cret-token']);
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({}, addObserved);
  for (const [name, one] of Object.entries(await certificates())) keepCertificate(name, one);
  const country = makeTestMmdb('ZZ');
  table.known.set('geo.country', country.toString('base64'));
  table.known.set('geo.packed', gzipSync(country).toString('base64'));
  table.known.set('geo.asn', makeTestMmdb('ZZ', 'Test-ASN').toString('base64'));
});
afterAll(() => waf.control.close());

describe('rules on resources', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectRow(table, waf, row),
  );

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThan(230);
    expect(table.ran).toBe(rows.length);
    console.log(`rules on resources: ${table.ran} of ${rows.length} rows ran`);
  });
});

function keepCertificate(name: string, { cert, key }: Pick<TestCertificate, 'cert' | 'key'>): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  table.known.set(`${name}.cert`, base64(cert));
  table.known.set(`${name}.key`, base64(key));
  table.known.set(`${name}.pem`, cert);
}

async function certificates(): Promise<Record<string, Pick<TestCertificate, 'cert' | 'key'>>> {
  const root = await makeTestCertificate({ subject: 'CN=root', authority: true });
  const mid = await makeTestCertificate({ subject: 'CN=mid', authority: true, issuer: root });
  const bundled = await makeTestCertificate({ names: ['bundled.test'], issuer: mid });
  table.known.set('bundled.leaf', Buffer.from(bundled.cert).toString('base64'));
  const names = ['shop.test', '*.shop.test'];
  const usages = ['1.3.6.1.5.5.7.3.1'];
  return {
    root,
    mid,
    bundled: { cert: `${bundled.cert}${mid.cert}`, key: bundled.key },
    leaf: await makeTestCertificate({ names, issuer: mid, usages }),
    second: await makeTestCertificate({ names }),
    weak: await makeTestCertificate({ names, rsaBits: 1024 }),
    sha1: await makeTestCertificate({ names, issuer: mid, hash: 'SHA-1' }),
    ended: await makeTestCertificate({ names, fromDays: -20, toDays: -1 }),
    early: await makeTestCertificate({ names, fromDays: 1 }),
    stapled: await makeTestCertificate({ names, mustStaple: true }),
    nameless: await makeTestCertificate({}),
    client: await makeTestCertificate({ names, usages: ['1.3.6.1.5.5.7.3.2'] }),
  };
}

/** Enrolled nodes, and what the built-in node counted. */
async function addObserved(folder: string): Promise<void> {
  await addAgents(folder);
  const kv = openLmdbKv({ folder: join(folder, '..', 'events'), durable: false });
  const payload = toBinary(CounterBatchSchema, create(CounterBatchSchema, countedBatch()));
  const header = { agentId: 'local', tenantId: 'default', bootId: '00', batchSeq: 1n };
  const batch = { ...header, crc32c: crc32c(payload), payload };
  const counters = openCounterStore(kv);
  expect(await counters.ingest(batch, metricPayloadVersion)).toBe('stored');
  expect(await counters.ingest(batch, metricPayloadVersion)).toBe('repeated');
  const load = openNodeLoadStore(kv);
  for (const cpuPercent of [20, 40]) {
    const numbers = { cpuPercent, activeConnections: 5 };
    const last = { observationHealth: { state: 'healthy' } };
    await load.add('local', Date.now(), { numbers, last });
  }
  await kv.close();
}

/** Ten requests: six good ones, three blocked, one whose origin failed; two took a while. */
function countedBatch() {
  const count = (family: string, key: string, number: number) => ({
    family,
    key,
    count: BigInt(number),
  });
  const durations = durationBoundsSeconds.map((bound) => (bound === 0.01 ? 8n : 0n));
  const entries = [
    count('outcome', 'blocked', 3),
    count('status', '200', 6),
    count('status', '403', 3),
    count('status', '502', 1),
    count('origin_error', 'refused', 1),
    count('top_path', '/b', 2),
    count('top_path', '/a', 5),
    count('top_path_blocked', '/a', 3),
    count('top_method', 'GET', 10),
    count('top_method_blocked', 'GET', 3),
  ];
  const delta = { siteId: 'site-demo', policyId: 'policy-standard', requests: 10n, entries };
  return { toMs: BigInt(Date.now()), deltas: [{ ...delta, durations: [...durations, 2n] }] };
}

/** Enrolled nodes, as enrollment would leave them. */
async function addAgents(folder: string): Promise<void> {
  const kv = openLmdbKv({ folder, durable: false });
  const store = await openStore(kv, systemClock);
  await store.write((tx) => {
    const tags = { a: ['eu', 'edge'], b: ['eu'], c: ['us'] };
    Object.entries(tags).forEach(([name, own], index) => {
      const id = `agent-${index + 1}`;
      const at = new Date().toISOString();
      const status = 'AGENT_STATUS_OFFLINE' as const;
      const base = { tenantId: 'default', createdAt: at, updatedAt: at };
      tx.put(agents, { id, name, tags: own, status, ...base });
    });
  });
  await store.close();
}

test('the store, which holds keys and credentials, is nobody else’s to read', () => {
  for (const file of ['control/data.mdb', 'events/data.mdb']) {
    expect(statSync(join(waf.folder, file)).mode & 0o777).toBe(0o600);
  }
});
