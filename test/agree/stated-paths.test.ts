/**
 * Paths that rules state beyond ASCII or with escapes, in running policies: a virtual patch sees
 * every spelling that an origin reads so, an exclusion by path holds for those that all read so.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { underPaths } from '../../control/domain/policy/exclusion-plugins.ts';
import { readPatchConditions } from '../../control/domain/policy/virtual-patch-conditions.ts';
import { builtInCrsFolder } from '../../control/publish/rulesets/ruleset-folder.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { sendInProcess, templateEngine } from './policy-in-process.ts';

interface Row {
  readonly says: string;
  readonly condition: object;
  readonly met: readonly string[];
  readonly others: readonly string[];
}

const spellings = ['/caf%C3%A9', '/caf%c3%a9/', '/c%61f%C3%A9', '/CAF%C3%89', '//x/caf%c3%a9'];

const patches: readonly Row[] = [
  {
    says: 'is, as it is read',
    condition: { is: '/Café' },
    met: [...spellings, '/cafe%CC%81', '/caf%E9'],
    others: ['/cafe', '/caf%C3%A8', '/caf%C3%A9/x'],
  },
  { says: 'is, as it is sent', condition: { is: '/CAF%C3%A9/' }, met: spellings, others: ['/caf'] },
  {
    says: 'is, in the longer normal form',
    condition: { is: '/cafe\u0301' },
    met: [...spellings, '/cafe%CC%81'],
    others: ['/cafe'],
  },
  {
    says: 'is, with an escape that is not needed',
    condition: { is: '/%61dmin' },
    met: ['/admin', '/%61dmin', '/ADMIN/', '/%2561dmin'],
    others: ['/61dmin', '/admin/x'],
  },
  {
    says: 'is, with an escaped slash',
    condition: { is: '/group%2Fone' },
    met: ['/group%2Fone', '/group%2fone', '/group/one', '/%67roup%2Fone'],
    others: ['/group', '/groupone'],
  },
  {
    says: 'is, with bytes that are no UTF-8',
    condition: { is: '/caf%E9' },
    met: ['/caf%E9', '/c%61f%e9'],
    others: ['/cafe'],
  },
  {
    says: 'begins',
    condition: { begins: '/Été%20' },
    met: ['/%C3%89t%C3%A9%201', '/%c3%a9t%c3%a9%20', '/%C3%A9%74%C3%89%201/x'],
    others: ['/%C3%A9t%C3%A9', '/x/%C3%A9t%C3%A9%201'],
  },
  { says: 'ends', condition: { ends: 'é.php' }, met: ['/x/%C3%A9.php'], others: ['/x/e.php'] },
  {
    says: 'contains, with an escape as it is written',
    condition: { contains: '%2f' },
    met: ['/a%2Fb', '/a%2fb'],
    others: ['/a/b'],
  },
  {
    says: 'contains',
    condition: { contains: 'ЖУК' },
    met: ['/x/%D0%B6%D1%83%D0%BAi', '/%D0%96%D0%A3%D0%9A'],
    others: ['/x/%D0%B6'],
  },
];

const exclusion = {
  path: '/café',
  met: ['/caf%C3%A9', '/caf%c3%a9/x', '/caf%C3%A9/%C3%A8'],
  others: ['/c%61f%C3%A9', '/caf%C3%A9/../x', '/caf%E9', '/cafe%CC%81', '/CAF%C3%89', '/cafe'],
};

describe('a running policy', () => {
  let engine: PolicyEngine;
  beforeAll(async () => {
    const rules = patches.map(({ condition }, at) => {
      const [one] = readPatchConditions([{ in: 'path', ...condition }], 'conditions');
      return `${one!.text} "id:${100_101 + at},phase:1,pass,log,${one!.transformations}"`;
    });
    rules.push(`${underPaths([exclusion.path])} "id:100100,phase:1,pass,log,t:none"`);
    const policy = { beforeCrs: `${rules.join('\n')}\n` };
    engine = await templateEngine('Light', builtInCrsFolder, (one) => one, policy);
  });
  afterAll(() => engine?.retire());

  const fired = (id: number, url: string): boolean =>
    sendInProcess(engine, { url }).rules.includes(id);

  test.each(patches)('a patch on a path: $says', ({ condition, met, others }) => {
    const id = 100_101 + patches.findIndex((one) => one.condition === condition);
    expect(met.filter((url) => !fired(id, url))).toEqual([]);
    expect(others.filter((url) => fired(id, url))).toEqual([]);
  });

  test('an exclusion on a path beyond ASCII holds where all origins read that path', () => {
    expect(exclusion.met.filter((url) => !fired(100_100, url))).toEqual([]);
    expect(exclusion.others.filter((url) => fired(100_100, url))).toEqual([]);
  });
});
