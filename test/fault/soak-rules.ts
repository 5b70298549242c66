/**
 * The rules of the fault soak: they write down whose content they saw, in the phase that reads it
 * and again in the last one, on the front's own thread or in a pool.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { PolicySource } from '../../engine/contract/policy.ts';
import { Pool, placeInspector } from '../../engine/pool/dispatch.ts';
import { poolThreadSettings } from '../support/test-policy.ts';
import { buildEngine } from '../../engine/policies/policy-build.ts';
import { fixedPorts, noCache } from '../fuzz/compare-engines.ts';
import { transpileTree } from '../http/transpile.ts';

const policy: PolicySource = {
  id: 'p',
  name: 'p',
  revision: '1',
  seclangEntry: `
SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyNoFilesLimit 60000
SecRequestBodyLimit 60000
SecRequestBodyLimitAction ProcessPartial
SecResponseBodyAccess On
SecResponseBodyLimit 30000
SecResponseBodyLimitAction ProcessPartial
SecResponseBodyMimeType text/html
SecAction "id:1,phase:1,pass,nolog,ctl:forceRequestBodyVariable=On"
SecRule REQUEST_BODY "@rx ^<q(\\d+)>" "id:2,phase:2,pass,capture,log,msg:'q%{TX.1}'"
SecRule RESPONSE_BODY "@rx ^<a(\\d+)>" "id:3,phase:4,pass,capture,log,msg:'a%{TX.1}'"
SecRule REQUEST_BODY "@rx <q(\\d+)>$" "id:4,phase:5,pass,capture,log,msg:'q%{TX.1}'"
SecRule RESPONSE_BODY "@rx <a(\\d+)>" "id:5,phase:5,pass,capture,log,msg:'a%{TX.1}'"
`,
  files: new Map(),
};

/** The rules, ready to inspect; close them at the end. */
export interface SoakRules {
  readonly inspector: Inspector;
  close(): Promise<void>;
}

/**
 * Builds the rules; in the pool, what is inspected goes through two threads, and a third for large
 * bodies. All of them have loaded the rules: no request of a soak spends its time on that.
 */
export async function startRules(pooled: boolean): Promise<SoakRules> {
  const engine = buildEngine(policy, { cache: noCache, log: silentLogger, ports: fixedPorts });
  if (!pooled) return { inspector: engine, close: async () => engine.retire() };
  const root = path.resolve(import.meta.dirname, '../..');
  const { url, folder } = await transpileTree(root, 'engine/threads/pool-thread.ts');
  const workerData = poolThreadSettings(folder);
  const parts = { workerFile: url, workerData, clock: systemClock, log: silentLogger };
  const pool = new Pool({ ...parts, deadlineMs: 20_000, threads: 2 });
  const source = { policy: { key: 'p', source: policy }, shared: new Map() };
  pool.load('p', source, true);
  pool.start();
  pool.queueFor(Infinity).load('p', source, true);
  await pool.settled();
  const how = { policy: 'p', recordOnly: false } as const;
  const close = async (): Promise<void> => {
    await pool.close();
    engine.retire();
    rmSync(folder, { recursive: true, force: true });
  };
  return { inspector: placeInspector('pool', engine, pool, how), close };
}

/** How often the rules saw content, and the events of those who saw another's. */
export function judgeSeen(events: readonly RequestEvent[]): { seen: number; foreign: string[] } {
  let seen = 0;
  const foreign: string[] = [];
  for (const { target, transaction } of events) {
    const id = target.split('/')[2];
    for (const { message } of transaction?.matchedRules ?? []) {
      seen++;
      if (message.slice(1) !== id) foreign.push(`${target}: ${message}`);
    }
  }
  return { seen, foreign };
}
