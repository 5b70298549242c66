/**
 * Which targets a run has, in which order, and how each is started. A target whose programs are not
 * installed is left out, with a note.
 */

import { execFileSync } from 'node:child_process';
import { listenerKinds, type ListenerKind } from '../../base/listener.ts';
import { hasModsecurity2, startModsecurity2 } from './apache.ts';
import type { Started } from './child-process.ts';
import { hasModsecurity3, startModsecurity3, startPlainProxy } from './nginx.ts';
import { isAskedFor } from './options.ts';
import { startProduct } from './product.ts';
import type { Ruleset } from './ruleset.ts';
import type { Surroundings, TargetFacts } from './target.ts';

/** A target that can be started. */
export interface Candidate extends TargetFacts {
  start(place: Surroundings): Promise<Started>;
}

/** What there is to choose from. */
export interface LineUpOptions {
  readonly rulesets: readonly Ruleset[];
  /** Policies that only this proxy runs, at the usual place of inspection. */
  readonly templates: readonly Ruleset[];
  readonly only: readonly string[];
  readonly inspection: readonly string[];
  readonly pauses: boolean;
  /** Null when the engine was not compiled. */
  readonly engineFile: string | null;
  /** Where compiled rule databases are kept. */
  readonly databaseFolder: string;
}

/** The targets, and lines that say what is missing and how to get it. */
export interface LineUp {
  readonly candidates: readonly Candidate[];
  readonly missing: readonly string[];
}

/** Chooses the targets of a run. */
export function chooseTargets(options: LineUpOptions): LineUp {
  const missing: string[] = [];
  const wanted = (all: readonly Candidate[]): Candidate[] =>
    all.filter(({ name }) => isAskedFor(name, options.only));
  const need = (all: readonly Candidate[], here: boolean, hint: string): Candidate[] => {
    const chosen = wanted(all);
    if (here || chosen.length === 0) return chosen;
    missing.push(`${chosen.map(({ name }) => name).join(', ')}: left out; ${hint}`);
    return [];
  };
  const nginx = hasProgram('nginx');
  const nginxHint = 'apt-get install -y --no-install-recommends nginx';
  const candidates = [
    ...need([plainProxy], nginx, nginxHint),
    ...need(ownTargets(options), options.engineFile !== null, 'the engine is not compiled'),
    ...need(
      options.rulesets.map(nginxTarget),
      nginx && hasModsecurity3(),
      `${nginxHint} libnginx-mod-http-modsecurity`,
    ),
    ...need(
      options.rulesets.map(apacheTarget),
      hasModsecurity2(),
      'apt-get install -y --no-install-recommends apache2 libapache2-mod-security2',
    ),
  ];
  return { candidates, missing };
}

/** True when a program is on the path. */
export function hasProgram(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** nginx as a proxy without inspection: what all others are measured by. */
export const plainProxy: Candidate = {
  name: 'nginx',
  title: 'nginx, no WAF',
  expectation: 'plain',
  baseline: null,
  start: startPlainProxy,
};

function nginxTarget(ruleset: Ruleset): Candidate {
  return {
    name: `nginx-modsec3-${ruleset.name}`,
    title: `nginx + ModSecurity 3, ${ruleset.title}`,
    expectation: 'waf',
    baseline: null,
    start: (place) => startModsecurity3(place, ruleset),
  };
}

function apacheTarget(ruleset: Ruleset): Candidate {
  return {
    name: `apache-modsec2-${ruleset.name}`,
    title: `Apache + ModSecurity 2, ${ruleset.title}`,
    expectation: 'waf',
    baseline: `nginx-modsec3-${ruleset.name}`,
    start: (place) => startModsecurity2(place, ruleset),
  };
}

/**
 * The WAF off, then each rule set at each asked place of inspection; both listeners where `auto` is
 * asked for. Then the templates.
 */
function ownTargets(options: LineUpOptions): Candidate[] {
  const { rulesets, inspection } = options;
  const off = listenerKinds.map((listener) => ownTarget(options, null, 'auto', listener));
  const on = rulesets.flatMap((ruleset) =>
    inspection.flatMap((place) =>
      (place === 'auto' ? listenerKinds : (['strict'] as const)).map((listener) =>
        ownTarget(options, ruleset, place, listener),
      ),
    ),
  );
  const published = options.templates.map((ruleset) =>
    ownTarget(options, ruleset, 'auto', 'strict'),
  );
  return [...off, ...on, ...published];
}

function ownTarget(
  { engineFile, databaseFolder, pauses }: LineUpOptions,
  ruleset: Ruleset | null,
  inspection: string,
  listener: ListenerKind,
): Candidate {
  const variants = [
    ...(inspection === 'auto' ? [] : [inspection]),
    ...(listener === 'strict' ? [] : [listener]),
  ];
  const what = ruleset?.title ?? 'inspection off';
  return {
    name: ['waf', ruleset?.name ?? 'off', ...variants].join('-'),
    title: [`waf, ${what}`, ...variants].join(', '),
    expectation: ruleset === null ? 'plain' : 'waf',
    baseline: baselineOf(ruleset),
    start: (surroundings) =>
      startProduct(surroundings, {
        engineFile: engineFile ?? '',
        ruleset,
        inspection,
        listener,
        databaseFolder,
        pauses,
      }),
  };
}

/** No other WAF runs the policy of a template. */
function baselineOf(ruleset: Ruleset | null): string | null {
  if (ruleset === null) return plainProxy.name;
  return ruleset.template === undefined ? `nginx-modsec3-${ruleset.name}` : null;
}
