/** Tests what measured values mean to `waf doctor`. */

import { describe, expect, test } from 'vitest';
import { judgeCertificate, judgeMode } from './data-folder.ts';
import { bySeverity, note, ok, sizeText, warning, error } from './finding.ts';
import { judgeNode } from './installation.ts';
import { judgeDescriptors, judgeDisk, judgeMemory } from './machine.ts';
import { judgeRulesets } from './rulesets.ts';
import { judgePart } from './service.ts';
import { judgeChainEnd, judgeClock } from './store.ts';

const megabyte = 1024 * 1024;
const day = 24 * 3_600_000;
const now = Date.UTC(2026, 5, 1);
const at = (ms: number): string => new Date(ms).toISOString();

describe('severity', () => {
  test.each([
    ['20.20.2', '20.19.0', 'ok'],
    ['20.19.0', '20.19.0', 'ok'],
    ['22.0.0', '20.19.0', 'ok'],
    ['20.9.0', '20.19.0', 'error'],
    ['18.99.0', '20.19.0', 'error'],
  ])('of Node %s where %s is needed', (version, oldest, severity) => {
    expect(judgeNode(version, oldest).severity).toBe(severity);
  });

  test.each([
    [10_000 * megabyte, 1e6, 'ok'],
    [1_000 * megabyte, 1e6, 'warning'],
    [10_000 * megabyte, 10, 'warning'],
    [10 * megabyte, 1e6, 'error'],
  ])('of a disk with %i bytes and %i inodes free', (freeBytes, freeInodes, severity) => {
    const disk = { freeBytes, freeInodes, totalBytes: 1e12 };
    expect(judgeDisk(disk).map((one) => one.severity)).toEqual([severity]);
  });

  test.each([
    [8_000, null, 'ok'],
    [8_000, 600, 'warning'],
    [8_000, 200, 'error'],
    [700, null, 'warning'],
    [300, 4_000, 'error'],
  ])('of %i MB of memory in a group with %s MB', (total, group, severity) => {
    const limit = group === null ? null : group * megabyte;
    const found = judgeMemory(total * megabyte, 100 * megabyte, limit);
    expect(found.map((one) => one.severity)).toEqual([severity]);
  });

  test.each([
    [1_000, 'error'],
    [1_024, 'warning'],
    [65_536, 'ok'],
  ])('of %i descriptors', (limit, severity) => {
    expect(judgeDescriptors(limit).severity).toBe(severity);
  });

  test.each([
    [0o600, false, 'ok'],
    [0o640, false, 'error'],
    [0o660, false, 'error'],
    [0o700, true, 'ok'],
    [0o755, true, 'warning'],
    [0o777, true, 'error'],
  ])('of permissions %o', (mode, isFolder, severity) => {
    expect(judgeMode('x', mode, isFolder).severity).toBe(severity);
  });

  test.each([
    [now - 1, 'error'],
    [now + 5 * day, 'warning'],
    [now + 90 * day, 'ok'],
  ])('of a certificate that ends at %i', (ends, severity) => {
    expect(judgeCertificate('c', 's', ends, now, 'renew').severity).toBe(severity);
  });

  test.each([
    [now, at(now - day), 'ok'],
    [now, at(now + 1000), 'ok'],
    [now, at(now + day), 'error'],
    [0, '', 'error'],
    [now, '', 'ok'],
  ])('of the clock at %i after a write at %s', (nowMs, last, severity) => {
    expect(judgeClock(nowMs, last).severity).toBe(severity);
  });

  test.each([
    [null, null, 'ok'],
    [{ id: '1', hash: 'a' }, { id: '1', hash: 'a' }, 'ok'],
    [{ id: '1', hash: 'a' }, { id: '1', hash: 'b' }, 'error'],
    [{ id: '2', hash: 'a' }, { id: '1', hash: 'a' }, 'error'],
    [{ id: '1', hash: 'a' }, null, 'error'],
    [null, { id: '1', hash: 'a' }, 'error'],
  ])('of a chain whose head is %j and whose last row is %j', (head, last, severity) => {
    expect(judgeChainEnd(head, last).severity).toBe(severity);
  });

  test.each([
    ['engine', 'healthy', 'ok'],
    ['engine', 'unhealthy', 'error'],
    ['configuration', 'unknown', 'warning'],
    ['something new', 'unhealthy', 'error'],
  ])('of a part %s that is %s', (component, status, severity) => {
    const found = judgePart(component, status, '');
    expect(found.severity).toBe(severity);
    if (severity !== 'ok') expect(found.action).not.toBe('');
  });
});

test('the worst comes first, the rest stays in order', () => {
  const findings = [
    ok('1', ''),
    note('2', ''),
    error('3', '', ''),
    ok('4', ''),
    warning('5', '', ''),
  ];
  const order = bySeverity([...findings, error('6', '', '')]).map(({ check }) => check);
  expect(order).toEqual(['3', '6', '5', '2', '1', '4']);
});

test('sizes are readable', () => {
  expect([0, 512, 1536, 150 * megabyte, 3e12].map(sizeText)).toEqual([
    '0 B',
    '512 B',
    '1.5 KB',
    '150 MB',
    '2.7 TB',
  ]);
});

describe('rulesets', () => {
  const policy = (name: string, crsRulesetId: string, isTemplate = false) => ({
    ...{ name, crsRulesetId, isTemplate },
  });

  const versions = new Map([
    ['crs-default', '3.3.4'],
    ['ruleset-4', '4.28.0'],
  ]);

  test('a policy on CRS 3 is named, with the two commands that move it', () => {
    const found = judgeRulesets(
      [policy('shop', 'crs-default'), policy('new', 'ruleset-4')],
      versions,
    );
    expect(found.severity).toBe('note');
    expect(found.finding).toBe('CRS 3 in shop; CRS 4 finds more and mistakes less');
    expect(found.action).toContain('waf crs import');
    expect(found.action).toContain('waf policy ruleset');
  });

  test('templates and policies on CRS 4 are no finding, many policies are counted', () => {
    const calm = [policy('Light', 'crs-default', true), policy('new', 'ruleset-4')];
    expect(judgeRulesets(calm, versions).severity).toBe('ok');
    const many = Array.from({ length: 8 }, (_, at) => policy(`p${at}`, 'crs-default'));
    expect(judgeRulesets(many, versions).finding).toContain('p4 and 3 more');
  });
});
