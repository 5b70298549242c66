/**
 * No guard by path is avoided by a spelling that a real server reads as that path, and no exemption
 * is reached by one. WAF_PATHS says how many targets (300), WAF_SEED where they begin.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendInProcess, templateEngine } from '../agree/policy-in-process.ts';
import { startDice } from '../agree/random-changes.ts';
import { readPath } from '../../base/path-readings.ts';
import { readStatedPath } from '../../base/stated-path.ts';
import { underPaths } from '../../control/domain/policy/exclusion-plugins.ts';
import { readPatchConditions } from '../../control/domain/policy/virtual-patch-conditions.ts';
import { pathPatternOf } from '../../engine/guard/rate-limit.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { PathMatcher } from '../../engine/schema/path-matcher.ts';
import { pathReadings } from '../../engine/schema/request-path.ts';
import { viewOf } from '../support/request-view.ts';
import { type PathBackends, startPathBackends } from './path-backends.ts';
import { drawTarget } from './path-grammar.ts';

const count = Number(process.env['WAF_PATHS'] ?? 300);
const seed = Number(process.env['WAF_SEED'] ?? Date.now() % 1_000_000_000);
const timeoutMs = 5 * 60_000 + count * 200;
const batch = 16;

const pattern = pathPatternOf('/api/login');
const stated = readStatedPath('/%61pi/log%69n');
const operations = new PathMatcher<string>();
operations.add('GET', [[{ literal: 'api' }], [{ literal: 'login' }]], 'login');

/** The kinds of guards, and whether each sees to `/api/login` for the target. */
const guards: Readonly<Record<string, (target: string) => boolean>> = {
  'a rate limit': (target) => viewOf({ target }).matchesPath(pattern),
  'a rule by prefix': (target) => viewOf({ target }).isUnder('/api/login', true),
  'an exemption of another path': (target) => !viewOf({ target }).isUnder('/public', false),
  'an operation of a document': (target) =>
    pathReadings(viewOf({ target }).path).some(
      ({ segments }) => operations.find('GET', segments) !== null,
    ),
  'a rule by a prefix with escapes': (target) => viewOf({ target }).isUnder(stated, true),
  'a virtual patch': (target) => ruleFires(patchId, target),
  'an exclusion of another path': (target) => !ruleFires(exclusionId, target),
};

const [patchId, exclusionId] = [100_100, 100_101];
let engine: PolicyEngine;

/** A policy of these two rules alone. */
function startPolicy(): Promise<PolicyEngine> {
  const [patch] = readPatchConditions([{ in: 'path', is: '/api/login' }], 'conditions');
  const rules = [
    `${patch!.text} "id:${patchId},phase:1,pass,log,${patch!.transformations}"`,
    `${underPaths(['/public'])} "id:${exclusionId},phase:1,pass,log,t:none"`,
  ];
  const policy = { beforeCrs: `${rules.join('\n')}\n` };
  return templateEngine('Light', null, (one) => one, policy);
}

function ruleFires(id: number, url: string): boolean {
  return sendInProcess(engine, { url }).rules.includes(id);
}

/** Guards that do not see to a target that a server serves. */
function avoided(target: string, kinds = guards): string[] {
  if (!readPath(viewOf({ target }).path).complete) return [];
  return Object.entries(kinds).flatMap(([name, sees]) => (sees(target) ? [] : [name]));
}

describe('real servers', { timeout: timeoutMs }, () => {
  let backends: PathBackends;
  beforeAll(async () => {
    engine = await startPolicy();
    backends = await startPathBackends();
    if (backends.missing.length > 0) console.log(`skipped: ${backends.missing.join(', ')}`);
  }, timeoutMs);
  afterAll(() => {
    engine?.retire();
    return backends?.close();
  });

  test('what a server reads as the path is seen by every guard', async () => {
    const dice = startDice(seed);
    const served = new Map<string, number>();
    const differences: string[] = [];
    for (let done = 0; done < count; done += batch) {
      const targets = Array.from({ length: Math.min(batch, count - done) }, () => drawTarget(dice));
      await Promise.all(
        targets.map(async (target) => {
          for (const { name, serves } of backends.list) {
            if (!(await serves(target))) continue;
            served.set(name, (served.get(name) ?? 0) + 1);
            for (const guard of avoided(target)) differences.push(`${name}: ${guard}: ${target}`);
          }
        }),
      );
    }
    console.log(`WAF_SEED=${seed} WAF_PATHS=${count}`, Object.fromEntries(served));
    expect(differences.slice(0, 20)).toEqual([]);
    expect([...served.values()].reduce((sum, one) => sum + one, 0)).toBeGreaterThan(count / 10);
  });

  test('each server is asked, or named as missing', () => {
    const names = ['Express', 'Go', 'PHP', 'Tomcat', 'django', 'flask', 'nginx'];
    const known = [...backends.list.map(({ name }) => name), ...backends.missing];
    for (const name of names) expect(known).toContain(name);
    for (const name of ['new URL', 'url.parse']) expect(known).toContain(name);
  });

  test('a guard that takes the path as it is sent is found', async () => {
    const asSent = { plain: (target: string): boolean => viewOf({ target }).path === '/api/login' };
    const [whatwg] = backends.list;
    expect(await whatwg!.serves('//x/api/login')).toBe(true);
    expect(avoided('//x/api/login', asSent)).toEqual(['plain']);
  });
});
