/** Rollouts against ports under the test's control: order, superseding, failures, lazy starts. */

import { expect, test } from 'vitest';
import type { Diagnostic } from '../rules/language/diagnostic.ts';
import { noInspection, type KeyedPolicy } from '../contract/policy.ts';
import type { SharedImages } from '../contract/shared-images.ts';
import type { RoutesConfig } from '../contract/site.ts';
import type { PlanOutcome } from './planner.ts';
import { Rollouts, type Candidate, type Interim, type RolloutPorts } from './rollouts.ts';

/** Ports that record the calls; the test decides when planning and delays end. */
class FakeEngine implements RolloutPorts {
  readonly done: string[] = [];
  planned = '';
  /** Policies that wait for `finish`, by key. */
  readonly open = new Map<string, (outcome: PlanOutcome) => void>();
  slow = new Set<string>();
  broken = new Set<string>();
  private late: (() => void)[] = [];
  readonly log = {
    debug: () => undefined,
    info: (text: string) => void this.done.push(`log ${text}`),
    warn: (text: string) => void this.done.push(`warn ${text}`),
    error: (text: string) => void this.done.push(`error ${text}`),
  };

  plan({ key }: KeyedPolicy): Promise<PlanOutcome> {
    if (this.slow.has(key)) return new Promise((resolve) => this.open.set(key, resolve));
    return Promise.resolve(this.broken.has(key) ? bad : good);
  }

  finish(key: string): void {
    this.slow.delete(key);
    this.open.get(key)?.(good);
  }

  timeOut(): void {
    for (const resolve of this.late.splice(0)) resolve();
  }

  interimDelay(): Promise<void> {
    return new Promise((resolve) => this.late.push(resolve));
  }

  apply(routes: RoutesConfig): Promise<void> {
    const { lazy, policies } = routes.inspection;
    const keys = policies.map(({ key }) => key).join(',');
    this.done.push(`apply ${routes.revision} ${lazy ? 'lazy ' : ''}${keys}`);
    return Promise.resolve();
  }

  useDatabases: (images: SharedImages) => void = () => undefined;
  offerDatabases(): void {}
  onRoutes(): void {}
  onInterim({ revision, sha256, waitingSiteIds }: Interim): void {
    this.done.push(`interim ${revision} ${sha256} waits: ${waitingSiteIds.join(',')}`);
  }
  isPlanned = (sha256: string): boolean => sha256 === this.planned;
  keepPlanned = (sha256: string): void => void (this.planned = sha256);
}

const good: PlanOutcome = { ok: true, diagnostics: [], rules: 1, shared: new Map() };
const diagnostic: Diagnostic = {
  severity: 'error',
  code: 'bad-argument',
  message: 'no such operator',
  span: { file: 'policy.conf', line: 3, column: 7 } as Diagnostic['span'],
};
const bad: PlanOutcome = { ...good, ok: false, diagnostics: [diagnostic] };

function candidate(revision: string, ...keys: string[]): Candidate {
  const policies = keys.map((key) => ({
    key,
    source: { id: key.split('@')[0]!, name: key, revision, seclangEntry: '', files: new Map() },
  }));
  const keyOfSite = new Map(keys.map((key) => [`site-${key.split('@')[0]}`, key]));
  const sites = keys.map((key) => {
    const id = key.split('@')[0]!;
    return {
      id: `site-${id}`,
      name: id,
      hosts: [id],
      upstream: { id: 'u', scheme: 'http' as const, endpoints: [] },
      waf: { enabled: true, policyId: id, mode: 'blocking', failPolicy: 'closed' } as const,
    };
  });
  const inspection = { policies, keyOfSite, lazy: false, shared: new Map() };
  const routes: RoutesConfig = { revision, sites, inspection };
  return { revision, sha256: `sha-${revision}`, routes, placeFiles: () => undefined };
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await Promise.resolve();
};
const kept = (engine: FakeEngine, revision: string) => (): Promise<void> => {
  engine.done.push(`keep ${revision}`);
  return Promise.resolve();
};
const rollOut = (rollouts: Rollouts, engine: FakeEngine, one: Candidate): Promise<void> =>
  rollouts.rollOut(() => Promise.resolve(one), kept(engine, one.revision));

test('a configuration is planned, applied, kept, settled', async () => {
  const engine = new FakeEngine();
  const rollouts = new Rollouts(engine);
  expect(rollouts.serving).toEqual({ revision: '0', sha256: '' });
  await rollOut(rollouts, engine, candidate('1', 'p@1', 'q@1'));
  expect(engine.done).toEqual(['apply 1 p@1,q@1', 'keep 1']);
  expect(rollouts.serving).toEqual({ revision: '1', sha256: 'sha-1' });
  expect(rollouts.state).toBe('settled');
  expect(engine.planned).toBe('sha-1');
});

test('a policy is planned with what those before it have in shared memory', async () => {
  const engine = new FakeEngine();
  let inUse: readonly string[] = [];
  const seen: string[] = [];
  engine.useDatabases = (images: SharedImages) => void (inUse = [...images.keys()]);
  engine.plan = ({ key }) => {
    seen.push(`${key}: ${inUse.join()}`);
    const group = { modes: [], tiers: [] };
    return Promise.resolve({ ...good, shared: new Map([[`database of ${key}`, group]]) });
  };
  await rollOut(new Rollouts(engine), engine, candidate('1', 'p@1', 'q@1', 'r@1'));
  expect(seen).toEqual(['p@1: ', 'q@1: database of p@1', 'r@1: database of p@1,database of q@1']);
});

test('warnings about a rule set of others are no warnings; about own rules they are', async () => {
  const engine = new FakeEngine();
  const at = (file: string): Diagnostic => ({
    ...diagnostic,
    severity: 'warning',
    message: `about ${file}`,
    span: { ...diagnostic.span, file },
  });
  const diagnostics = ['crs/rules/a.conf', 'policy.conf'].map(at);
  engine.plan = () => Promise.resolve({ ...good, diagnostics });
  await rollOut(new Rollouts(engine), engine, candidate('1', 'p@1'));
  expect(engine.done).toEqual(['warn about policy.conf', 'apply 1 p@1', 'keep 1']);
});

test('a slow policy: the rest serves, its site keeps the previous one', async () => {
  const engine = new FakeEngine();
  const rollouts = new Rollouts(engine);
  await rollOut(rollouts, engine, candidate('1', 'p@1', 'q@1'));
  engine.slow.add('p@2');
  const second = rollOut(rollouts, engine, candidate('2', 'q@1', 'p@2'));
  await turns();
  engine.timeOut();
  await turns();
  expect(rollouts.state).toBe('interim');
  expect(rollouts.serving.revision).toBe('1');
  expect(engine.done.slice(-2)).toEqual(['apply 2 q@1,p@1', 'interim 2 sha-2 waits: site-p']);
  engine.finish('p@2');
  await second;
  expect(engine.done.slice(-2)).toEqual(['apply 2 q@1,p@2', 'keep 2']);
  expect(engine.done).toContain(
    'log Compiling policy p@2; its sites keep the previous rules meanwhile.',
  );
});

test('a site whose inspection was off stays so, with a warning', async () => {
  const engine = new FakeEngine();
  const rollouts = new Rollouts(engine);
  const { routes, ...rest } = candidate('1', 'p@1');
  const sites = routes.sites.map((site) => ({ ...site, waf: { ...site.waf, enabled: false } }));
  await rollOut(rollouts, engine, {
    ...rest,
    routes: { ...routes, sites, inspection: noInspection },
  });
  engine.slow.add('p@1');
  const second = rollOut(rollouts, engine, candidate('2', 'p@1'));
  await turns();
  engine.timeOut();
  await turns();
  expect(engine.done.slice(-3)).toEqual([
    'warn Sites whose inspection was off are not inspected until their policy is compiled.',
    'apply 2 ',
    'interim 2 sha-2 waits: site-p',
  ]);
  engine.finish('p@1');
  await second;
  expect(engine.done.slice(-2)).toEqual(['apply 2 p@1', 'keep 2']);
});

test.each([['while it plans'], ['while its interim routes serve']])(
  'a later configuration takes its place %s',
  async (when) => {
    const engine = new FakeEngine();
    const rollouts = new Rollouts(engine);
    engine.slow.add('p@1');
    const first = rollOut(rollouts, engine, candidate('1', 'p@1'));
    const refused = first.catch((error: unknown) => error);
    await turns();
    if (when !== 'while it plans') engine.timeOut();
    await turns();
    await rollOut(rollouts, engine, candidate('2', 'q@1'));
    expect(await refused).toMatchObject({ code: 'superseded' });
    expect(rollouts.serving.revision).toBe('2');
    expect(engine.done).not.toContain('keep 1');
    engine.finish('p@1');
    await turns();
    expect(rollouts.serving.revision).toBe('2');
  },
);

test('of three that come together the last alone is obtained', async () => {
  const engine = new FakeEngine();
  const rollouts = new Rollouts(engine);
  const obtained: string[] = [];
  const ask = (one: Candidate): Promise<void> =>
    rollouts.rollOut(
      () => {
        obtained.push(one.revision);
        return Promise.resolve(one);
      },
      kept(engine, one.revision),
    );
  const asked = ['1', '2', '3'].map((revision) => ask(candidate(revision, 'p@1')));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(obtained).toEqual(['3']);
});

test('all policies that do not compile are named at once; the previous ones keep serving', async () => {
  const engine = new FakeEngine();
  const rollouts = new Rollouts(engine);
  await rollOut(rollouts, engine, candidate('1', 'p@1'));
  engine.broken = new Set(['p@2', 'q@2']);
  await expect(rollOut(rollouts, engine, candidate('2', 'p@2', 'q@2'))).rejects.toMatchObject({
    faults: [{ id: 'p' }, { id: 'q' }],
  });
  expect(rollouts.state).toBe('failed');
  expect(rollouts.serving.revision).toBe('1');
  expect(engine.done.filter((line) => line.startsWith('apply'))).toEqual(['apply 1 p@1']);
});

test('a start with everything in the cache serves at once and builds later', async () => {
  const engine = new FakeEngine();
  engine.planned = 'sha-1';
  const rollouts = new Rollouts(engine);
  const first = candidate('1', 'p@1');
  const routes = await rollouts.prepareFirst(first, false);
  expect(routes.inspection.lazy).toBe(true);
  rollouts.firstServed(first, false);
  expect(rollouts.state).toBe('serving');
  await turns();
  expect(engine.done).toEqual(['apply 1 p@1']);
  expect(rollouts.state).toBe('settled');
});

test('a change right after such a start waits for its new policies only', async () => {
  const engine = new FakeEngine();
  engine.planned = 'sha-1';
  engine.slow.add('p@1');
  const rollouts = new Rollouts(engine);
  const first = candidate('1', 'p@1');
  await rollouts.prepareFirst(first, false);
  rollouts.firstServed(first, false);
  await rollOut(rollouts, engine, candidate('2', 'p@1', 'q@1'));
  expect(engine.done).toEqual(['apply 2 lazy p@1,q@1', 'keep 2']);
  engine.finish('p@1');
  await turns();
  expect(engine.done.at(-1)).toBe('apply 2 p@1,q@1');
  expect(rollouts.state).toBe('settled');
});

test('a failed change after such a start leaves the first one to be built', async () => {
  const engine = new FakeEngine();
  engine.planned = 'sha-1';
  engine.slow.add('p@1');
  engine.broken.add('q@1');
  const rollouts = new Rollouts(engine);
  const first = candidate('1', 'p@1');
  await rollouts.prepareFirst(first, false);
  rollouts.firstServed(first, false);
  const change = rollOut(rollouts, engine, candidate('2', 'p@1', 'q@1'));
  await expect(change).rejects.toMatchObject({ code: 'policy_invalid' });
  await turns();
  engine.finish('p@1');
  await turns();
  expect(rollouts.serving.revision).toBe('1');
  expect(engine.done).toEqual(['apply 1 p@1']);
  expect(rollouts.state).toBe('settled');
});

test('a start that has to compile serves what is ready and finishes in the background', async () => {
  const engine = new FakeEngine();
  const rollouts = new Rollouts(engine);
  const first = candidate('1', 'p@1');
  expect((await rollouts.prepareFirst(first, false)).inspection.policies).toEqual([]);
  rollouts.firstServed(first, false);
  await turns();
  expect(engine.done).toEqual(['apply 1 p@1']);
  expect(rollouts.state).toBe('settled');
});

test('a named bundle is built before anything listens, or not at all', async () => {
  const engine = new FakeEngine();
  const rollouts = new Rollouts(engine);
  const first = candidate('1', 'p@1');
  expect((await rollouts.prepareFirst(first, true)).inspection.policies).toHaveLength(1);
  rollouts.firstServed(first, true);
  expect(rollouts.state).toBe('settled');
  engine.broken.add('q@1');
  const other = new Rollouts(engine);
  await expect(other.prepareFirst(candidate('2', 'q@1'), true)).rejects.toMatchObject({
    code: 'policy_invalid',
  });
});

test('a start that cannot be served is logged once; control can still repair it', async () => {
  const engine = new FakeEngine();
  engine.broken.add('p@1');
  const rollouts = new Rollouts(engine);
  const first = candidate('1', 'p@1');
  await rollouts.prepareFirst(first, false);
  rollouts.firstServed(first, false);
  await turns();
  expect(engine.done.filter((line) => line.startsWith('error the kept'))).toHaveLength(1);
  await rollOut(rollouts, engine, candidate('2', 'q@1'));
  expect(rollouts.serving.revision).toBe('2');
});
