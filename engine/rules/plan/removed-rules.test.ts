/**
 * Tests that a policy which takes out a rule, or adds one of its own, uses the databases that its
 * rule set has without, and that what is found for a rule that is gone has no effect.
 */

import { expect, test } from 'vitest';
import { createLogger } from '../../../base/log.ts';
import { runAtOnce } from '../../../base/steps.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import { loadSourceSet } from '../language/include.ts';
import { buildProgram } from '../program/build-program.ts';
import type { Program } from '../transaction/types.ts';
import { makePlan } from './make-plan.ts';
import { emptyPorts } from './planned-rules.test-support.ts';

const words = ['select', 'union', 'script', 'onload', 'passwd', 'bash', 'system', 'phpinfo'];

/** A rule set of some patterns on arguments and one on a header, and the text of a policy. */
function link(policy: string): Program {
  const rules = words.map((word, at) => {
    return `SecRule ARGS "@rx ${word}[a-z]+x" "id:${at + 1},phase:2,deny"`;
  });
  const chain =
    'SecRule ARGS "@rx chained[0-9]+" "id:20,phase:2,deny,chain"\n' +
    'SecRule REQUEST_HEADERS:Referer "@pm one two" "t:lowercase"';
  const agent = 'SecRule REQUEST_HEADERS:User-Agent "@pm scanner bot" "id:30,phase:1,deny"';
  const files = [
    { path: 'crs/rules.conf', text: [...rules, chain, agent].join('\n') },
    { path: 'policy.conf', text: `SecRuleEngine On\n${policy}` },
  ];
  const { program, diagnostics } = buildProgram(
    loadSourceSet(files, () => []),
    fullCatalog,
    () => null,
  );
  if (program === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return program;
}

/** The plan, and how many entries were put into the cache for it. */
function plan(policy: string, cached: Map<string, Uint8Array>) {
  const before = cached.size;
  const cache = {
    get: (key: string) => cached.get(key) ?? null,
    put: (key: string, bytes: Uint8Array) => void cached.set(key, bytes),
  };
  const options = { cache, log: createLogger('test', 'error'), ports: emptyPorts };
  const { image } = runAtOnce(makePlan(link(policy), options));
  return { image, compiled: cached.size - before };
}

/** Ids of the targets that some class searches for. */
function searched({ scan }: ReturnType<typeof plan>['image']): Set<number> {
  const ids = scan.classes.flatMap(({ patterns }) => {
    return [...patterns].filter((id, at) => at % 3 === 0 && id >= 0);
  });
  return new Set(ids);
}

test('a policy without one rule compiles nothing, and does not look for it', () => {
  const cached = new Map<string, Uint8Array>();
  const whole = plan('', cached);
  expect(whole.compiled).toBeGreaterThan(0);
  const without = plan('SecRuleRemoveById 3', cached);
  expect(without.compiled).toBe(0);
  expect(searched(without.image).size).toBe(searched(whole.image).size - 1);
  expect(without.image.facts.scannedRules).toBe(whole.image.facts.scannedRules - 1);
});

test('databases that one rule alone asked for are gone with it', () => {
  const whole = plan('', new Map());
  const without = plan('SecRuleRemoveById 30', new Map());
  expect(without.image.scan.groups.length).toBe(whole.image.scan.groups.length - 1);
});

test('a policy without many rules has databases without them', () => {
  const cached = new Map<string, Uint8Array>();
  plan('', cached);
  expect(plan('SecRuleRemoveById 1-4', cached).compiled).toBeGreaterThan(0);
});

test('a rule of the policy itself compiles its own pattern only', () => {
  const cached = new Map<string, Uint8Array>();
  const groups = plan('', cached).image.scan.groups.map(({ key }) => key);
  const own = plan('SecRule ARGS "@rx own[a-z]+" "id:100,phase:2,deny"', cached);
  expect(own.compiled).toBe(1);
  expect(own.image.scan.groups.map(({ key }) => key)).toEqual(expect.arrayContaining(groups));
});

test('a removed rule that would not have been reached stays out of the databases', () => {
  const skip = 'SecAction "id:200,phase:2,pass,nolog,skipAfter:END"';
  const text = (own: string): string => `${skip}\n${own}\nSecMarker END`;
  const rule = 'SecRule ARGS "@rx unreached[a-z]+" "id:201,phase:2,deny"';
  const unreached = plan(text(`${rule}\nSecRuleRemoveById 201`), new Map());
  const without = plan(text(''), new Map());
  const keys = ({ image }: typeof without) => image.scan.groups.map(({ key }) => key);
  expect(keys(unreached)).toEqual(keys(without));
});

test('a removed rule that does not link is no error', () => {
  expect(() =>
    link('SecRule ARGS "@rx (" "id:300,phase:2,deny"\nSecRuleRemoveById 300'),
  ).not.toThrow();
  expect(link('SecRuleRemoveById 3,20').removed.map(({ rule }) => rule.id)).toEqual([3, 20]);
});
