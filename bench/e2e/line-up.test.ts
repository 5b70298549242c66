/** Tests which targets a run has, what they are compared with, and that missing ones are named. */

import { expect, test } from 'vitest';
import { chooseTargets, type LineUpOptions } from './line-up.ts';
import type { Ruleset } from './ruleset.ts';

const ruleset = (name: string): Ruleset => ({
  name,
  title: name.toUpperCase(),
  setupFile: '/s',
  rulesFolder: '/r',
  paranoiaLevel: 1,
  levelVariables: [],
});

const options: LineUpOptions = {
  rulesets: [ruleset('a'), ruleset('b')],
  templates: [{ ...ruleset('light'), template: 'Light' }],
  only: ['waf*'],
  inspection: ['auto', 'pool'],
  pauses: false,
  engineFile: '/engine/main.js',
  databaseFolder: '/d',
};

test('every rule set at every place and listener, each beside its peer, and templates once', () => {
  const { candidates, missing } = chooseTargets(options);
  expect(candidates.map(({ name, baseline }) => [name, baseline])).toEqual([
    ['waf-off', 'nginx'],
    ['waf-off-uws', 'nginx'],
    ['waf-a', 'nginx-modsec3-a'],
    ['waf-a-uws', 'nginx-modsec3-a'],
    ['waf-a-pool', 'nginx-modsec3-a'],
    ['waf-b', 'nginx-modsec3-b'],
    ['waf-b-uws', 'nginx-modsec3-b'],
    ['waf-b-pool', 'nginx-modsec3-b'],
    ['waf-light', null],
  ]);
  expect(missing).toEqual([]);
});

test('what cannot be started is left out and named', () => {
  const { candidates, missing } = chooseTargets({ ...options, engineFile: null, only: ['waf-a*'] });
  expect(candidates).toEqual([]);
  expect(missing).toEqual(['waf-a, waf-a-uws, waf-a-pool: left out; the engine is not compiled']);
});

test('peers are started or named with the command that installs them', () => {
  const { candidates, missing } = chooseTargets({ ...options, only: ['nginx*', 'apache*'] });
  const started = candidates.map(({ name }) => name);
  const peers = [
    ['nginx', 'nginx'],
    ['nginx-modsec3-a', 'libnginx-mod-http-modsecurity'],
    ['apache-modsec2-b', 'libapache2-mod-security2'],
  ] as const;
  for (const [name, install] of peers) {
    if (started.includes(name)) continue;
    const line = missing.find((one) => one.includes(name));
    expect(line).toContain(`apt-get install -y --no-install-recommends`);
    expect(line).toContain(install);
  }
  expect(started.length + missing.length).toBeGreaterThan(0);
});
