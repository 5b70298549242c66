/** Tests the command line of the whole-proxy benchmark, and which CPUs it hands out. */

import { expect, test } from 'vitest';
import { splitCpus } from './cpu-split.ts';
import { describeCommand, isAskedFor, parseOptions, parseTarget } from './options.ts';

const places = { workloadFolder: '/w', crs4: '/c', out: '/o' };

test('reads flags, defaults and external targets', () => {
  const options = parseOptions(
    ['--rounds', '5', '--target', 'mine=http://127.0.0.1:8081:77', '--only', 'a,b*'],
    places,
  );
  expect(options).toMatchObject({
    rounds: 5,
    seconds: 2,
    connections: 16,
    workers: 1,
    only: ['a', 'b*'],
    external: [{ name: 'mine', host: '127.0.0.1', port: 8081, pid: 77 }],
    out: '/o',
    half: ['get-six-arguments', 'get-new-values'],
    partial: true,
  });
  expect(parseOptions([], places)).toMatchObject({ partial: false, rounds: 2 });
  expect(parseOptions([], places)!.only).toContain('waf-crs4-pl1*');
  expect(parseOptions(['--help'], places)).toBeNull();
});

test('a comparison with a commit has many short rounds, the short form three loads', () => {
  const long = parseOptions(['--against', 'abc'], places)!;
  expect(long).toMatchObject({ against: 'abc', rounds: 12, seconds: 3, workloads: [], half: [] });
  const short = parseOptions(['--against', 'abc', '--short', '--rounds', '4'], places)!;
  expect(short).toMatchObject({ rounds: 4, turnWarmupSeconds: 0 });
  expect(short.workloads).toEqual(['get-new-values', 'form-1k-new', 'attack-mix']);
  expect(parseOptions([], places)).toMatchObject({ against: null, turnWarmupSeconds: 1 });
});

test.each([
  [['--short'], /--short: goes with --against/],
  [['--rounds', '0'], /--rounds 0/],
  [['--workers', 'many'], /--workers many/],
  [['--inspection', 'moon'], /--inspection moon/],
  [['--target', 'x'], /--target x/],
  [['--nonsense'], /nonsense/],
])('refuses %j', (args, message) => {
  expect(() => parseOptions(args, places)).toThrow(message);
});

test('targets may be written with or without a final slash', () => {
  expect(parseTarget('a=http://h:1/:2')).toEqual({ name: 'a', host: 'h', port: 1, pid: 2 });
});

test('a star stands for any text, nothing for everything', () => {
  expect(isAskedFor('nginx-modsec3-crs4-pl1', ['nginx*pl1'])).toBe(true);
  expect(isAskedFor('nginx', ['nginx-*'])).toBe(false);
  expect(isAskedFor('waf.off', ['waf-off'])).toBe(false);
  expect(isAskedFor('anything', [])).toBe(true);
});

test('proxies get as many CPUs as they have workers, the load the rest', () => {
  expect(splitCpus(true, 1, 2).proxy.at(-1)).toBe('0');
  expect(splitCpus(true, 1, 2).load.at(-1)).toBe('1');
  expect(splitCpus(true, 2, 8).load.at(-1)).toBe('2-7');
  expect(splitCpus(true, 2, 2)).toEqual({ proxy: [], load: [] });
  expect(splitCpus(false, 1, 8)).toEqual({ proxy: [], load: [] });
});

test('reports show the command without places on this machine', () => {
  expect(describeCommand([])).toBe('npm run bench:e2e');
  expect(describeCommand(['--out', '/x', '--crs4=/y', '--update-readme'])).toBe(
    'npm run bench:e2e',
  );
  expect(describeCommand(['--rounds', '5', '--out', '/x', '--seconds', '2'])).toBe(
    'npm run bench:e2e -- --rounds 5 --seconds 2',
  );
});
