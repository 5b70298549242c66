/**
 * Conditions about nodes, origins and the log store, each made true and false again by what really
 * makes it so: a node's answers over its stream, its reports of origins, a disk that is almost
 * full.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AppError } from '../../base/errors.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import type { HealthReport } from '../../engine/contract/health.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { connectTestLink } from '../../test/support/test-link.ts';

const everyMs = 20;
const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(prepare?: (folder: string) => Promise<void>): Promise<TestControl> {
  const waf = await startTestControl({ alerting: { everyMs } }, prepare);
  cleanups.push(() => waf.control.close());
  return waf;
}

interface ShownAlert {
  readonly status: string;
  readonly agentId?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Adds a rule that fires at once; gives a reader of the alert that it has. */
async function addRule(waf: TestControl, kind: string): Promise<() => Promise<ShownAlert | null>> {
  const expression = JSON.stringify({ kind, forSeconds: 0, repeatSeconds: 0 });
  const rule = { name: kind, enabled: true, severity: 'ALERT_SEVERITY_WARNING', expression };
  const added = await waf.call('AlertService/UpsertAlertRule', { rule });
  expect([kind, added.status, added.body['message']]).toEqual([kind, 200, undefined]);
  const { id } = added.body['rule'] as { id: string };
  return async () => {
    const { body } = await waf.call('AlertService/ListAlerts', { ruleId: id });
    return (body['items'] as ShownAlert[] | undefined)?.[0] ?? null;
  };
}

const isOpen = (alert: ShownAlert | null): ShownAlert | null =>
  alert?.status === 'ALERT_STATUS_OPEN' ? alert : null;
const isClosed = (alert: ShownAlert | null): boolean => alert?.status === 'ALERT_STATUS_RESOLVED';

/** A change that every node has to serve. */
const change = (waf: TestControl, title: string) =>
  waf.call('SystemService/UpdateSystemSettings', {
    values: {
      'security.responses.config': {
        scenarios: { waf_block: { statusCode: 403, title, message: 'm' } },
      },
    },
  });

/** The local node; `answer` decides what becomes of a configuration. */
function connectNode(
  waf: TestControl,
  answer: () => Promise<void>,
  health?: () => HealthReport,
): { readonly link: ControllerLink; readonly applied: VerifiedBundle[] } {
  const applied: VerifiedBundle[] = [];
  const link = connectTestLink(
    waf.socket,
    applied,
    async (obtain, keep) => {
      const verified = await obtain();
      await answer();
      applied.push(verified);
      await keep();
    },
    health === undefined ? {} : { health },
  );
  cleanups.push(() => link.close());
  return { link, applied };
}

test('a node that refuses a configuration fires with its reason, and ends when it serves one', async () => {
  const waf = await start();
  let refuse = false;
  connectNode(waf, () =>
    refuse
      ? Promise.reject(new AppError('no_room', 'no room', { source: 'storage' }))
      : Promise.resolve(),
  );
  await eventually(async () => (await waf.get('/readyz', false)).status === 200);
  const alert = await addRule(waf, 'config_apply_failed');
  expect(await alert()).toBeNull();
  refuse = true;
  await change(waf, 'one');
  const fired = await eventually(async () => isOpen(await alert()));
  expect(fired).toMatchObject({ agentId: 'local', payload: { error: 'no_room: no room' } });
  refuse = false;
  await change(waf, 'two');
  await eventually(async () => isClosed(await alert()));
});

test('a node that is connected and serves an older configuration fires until it serves', async () => {
  const waf = await start();
  let release: (() => void) | null = null;
  let hold = false;
  connectNode(waf, async () => {
    if (hold) await new Promise<void>((resolve) => (release = resolve));
  });
  await eventually(async () => (await waf.get('/readyz', false)).status === 200);
  const alert = await addRule(waf, 'config_not_applied');
  expect(await alert()).toBeNull();
  hold = true;
  const changed = change(waf, 'one');
  const fired = await eventually(async () => isOpen(await alert()));
  expect(fired).toMatchObject({ agentId: 'local' });
  expect(fired.payload).not.toHaveProperty('error');
  const go = await eventually(() => release);
  hold = false;
  go();
  await changed;
  await eventually(async () => isClosed(await alert()));
});

test('an origin that a node reports as failing fires, and ends when it answers again', async () => {
  const waf = await start();
  let health: HealthReport = { revision: '0', sha256: '', addresses: [] };
  const { link, applied } = connectNode(
    waf,
    () => Promise.resolve(),
    () => health,
  );
  await eventually(async () => (await waf.get('/readyz', false)).status === 200);
  const { upstream } = (
    await waf.call('UpstreamService/CreateUpstream', {
      upstream: { name: 'app', endpoints: [{ url: 'http://10.9.9.9:81', weight: 1 }] },
    })
  ).body as { upstream: { id: string } };
  const alert = await addRule(waf, 'origin_down');
  const report = (status: 'healthy' | 'unhealthy', error: string): void => {
    const facts = { name: '10.9.9.9:81', url: 'http://10.9.9.9:81', probedAtMs: 0, changedAtMs: 1 };
    const { sha256 = '' } = applied.at(-1) ?? {};
    const addresses = [{ ...facts, upstreamId: upstream.id, status, error }];
    health = { revision: '3', sha256, addresses };
    link.reportHealth();
  };
  report('healthy', '');
  expect(await alert()).toBeNull();
  report('unhealthy', 'it refuses');
  const fired = await eventually(async () => isOpen(await alert()));
  expect(fired).toMatchObject({
    agentId: 'local',
    payload: { upstreamId: upstream.id, endpoint: 'http://10.9.9.9:81', error: 'it refuses' },
  });
  report('healthy', '');
  await eventually(async () => isClosed(await alert()));
});

/** Mounts a small disk at a folder and fills most of it; false without the right to mount. */
function fillSmallDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder];
  if (spawnSync('/bin/mount', options).status !== 0) return false;
  cleanups.push(() => void spawnSync('/bin/umount', ['-l', folder]));
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(62 * 1024 * 1024));
  return true;
}

test('a disk of the log store that is almost full fires with what is left', async (context) => {
  let mounted = false;
  const waf = await start((storeFolder) => {
    mounted = fillSmallDisk(join(storeFolder, '..', 'events'));
    return Promise.resolve();
  });
  context.skip(!mounted, 'no right to mount a small disk');
  const alert = await addRule(waf, 'log_storage');
  const fired = await eventually(async () => isOpen(await alert()));
  expect(fired.payload).toMatchObject({ status: 'critical' });
  expect(Number(fired.payload['availableBytes'])).toBeLessThan(64 * 1024 * 1024 * 0.05);
});
