/** Tests `waf admin` and `waf doctor` as people run them, against a control process of the test. */

import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { auditKey, recordKey, toBytes } from '../../store/keys.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import type { Finding } from '../process/doctor/finding.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);

let out = '';
let err = '';
beforeEach(() => {
  [out, err] = ['', ''];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
});
afterEach(() => vi.restoreAllMocks());

const waf = (...line: string[]): Promise<number> => {
  [out, err] = ['', ''];
  return runCommandLine(commands, line);
};
const scratch = (): string => mkdtempSync(join(tmpdir(), 'waf-admin-'));

let control: TestControl;
let data: string;
let backup: string;
beforeAll(async () => {
  control = await startTestControl();
  data = control.folder;
  for (const name of ['a', 'b', 'c', 'd']) {
    const upstream = { name, endpoints: [{ url: 'http://127.0.0.1:1' }] };
    await control.call('UpstreamService/CreateUpstream', { upstream });
  }
  backup = join(scratch(), 'one.wafbackup');
  await runCommandLine(commands, ['admin', 'backup', backup, '--data', data, '--output', 'json']);
});
afterAll(() => control.control.close());

/** A folder with the backup in it, whose store `tamper` may change. */
async function restored(tamper?: (put: (key: string, value: unknown) => void) => void) {
  const target = join(scratch(), 'data');
  expect(await waf('admin', 'restore', backup, '--data', target)).toBe(0);
  if (tamper !== undefined) {
    const kv = openLmdbKv({ folder: join(target, 'control'), durable: false });
    await kv.write((writer) =>
      tamper((key, value) =>
        value === undefined ? writer.remove(key) : writer.put(key, toBytes(value)),
      ),
    );
    await kv.close();
  }
  return target;
}

const rowKey = (number: number): string => auditKey(String(number).padStart(16, '0'));

describe('waf admin', () => {
  test('a backup says what it leaves out, and takes it with --with-events', async () => {
    const file = join(scratch(), 'small.wafbackup');
    expect(await waf('admin', 'backup', file, '--data', data)).toBe(0);
    expect(err).toContain('events, counts and evidence are not in this backup: --with-events');
    const whole = join(scratch(), 'whole.wafbackup');
    const line = ['admin', 'backup', whole, '--data', data, '--with-events', '--output', 'json'];
    expect(await waf(...line)).toBe(0);
    expect(err).not.toContain('not in this backup');
    expect(JSON.parse(out)).toMatchObject({ stores: ['control', 'events', 'evidence'] });
  });

  test('a backup of a running service comes back, and the service starts on it', async () => {
    const target = await restored();
    expect(out).toContain('No problems.');
    expect(existsSync(join(target, 'supervisor.pid'))).toBe(false);
    const again = await startTestControl({ dataFolder: target });
    const { body } = await again.call('UpstreamService/ListUpstreams', {});
    expect(body).toMatchObject({ page: { total: '4' } });
    expect((await again.call('AuditService/VerifyChain', {})).body).toMatchObject({
      healthy: true,
    });
    await again.control.close();
  });

  test('verify: the store of a running service, and a backup', async () => {
    expect(await waf('admin', 'verify', '--data', data)).toBe(0);
    expect(out).toContain('No problems.');
    expect(await waf('admin', 'verify', backup, '--output', 'json')).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ healthy: true, collections: { upstreams: 4 } });
  });

  test.each([
    ['a changed audit row', (put) => put(rowKey(2), { id: rowKey(2).slice(2) }), 'audit', 'row 0'],
    ['a removed audit row', (put) => put(rowKey(3), undefined), 'audit', '0000000000000003'],
    ['a record of another id', (put) => put(recordKey('sites', 'x'), { id: 'y' }), 'record', 'x'],
    ['a record that is none', (put) => put(recordKey('users', 'x'), null), 'record', 'users x'],
    [
      'a user without index entries',
      (put) => put(recordKey('users', 'x'), { id: 'x', username: 'x' }),
      'index',
      'users x',
    ],
    ['a wrong count', (put) => put('c\u0000upstreams', 7), 'count', 'upstreams'],
    [
      'an index entry of nothing',
      (put) => put('i\u0000users\u0000username\u0000zed\u0000u9', 1),
      'index',
      'users',
    ],
    [
      'a ruleset without its files',
      (put) => put(recordKey('rulesets', 'r'), { id: 'r', blob: 'gone' }),
      'blob',
      'rulesets r',
    ],
  ] satisfies [string, (put: (key: string, value: unknown) => void) => void, string, string][])(
    'verify names %s',
    async (_name, tamper, kind, where) => {
      const target = await restored(tamper);
      expect(await waf('admin', 'verify', '--data', target, '--output', 'json')).toBe(1);
      const { problems } = JSON.parse(out) as { problems: { kind: string; where: string }[] };
      const found = problems.filter((one) => one.kind === kind && one.where.includes(where));
      expect(found.length, JSON.stringify(problems)).toBeGreaterThan(0);
      expect(await waf('admin', 'verify', '--data', target)).toBe(1);
      expect(out).toContain(kind);
    },
  );

  test.each([
    ['all rows', (keys: string[]) => keys],
    ['the first row', (keys: string[]) => keys.slice(0, 1)],
    ['the last row', (keys: string[]) => keys.slice(-1)],
  ])('the service itself finds that %s are gone', async (_name, choose) => {
    const target = await restored();
    const kv = openLmdbKv({ folder: join(target, 'control'), durable: false });
    const keys = Array.from(kv.range({ start: 'a', end: 'b' }), ({ key }) => key);
    const gone = choose(keys);
    await kv.write((writer) => gone.forEach((key) => writer.remove(key)));
    await kv.close();
    const tampered = await startTestControl({ dataFolder: target });
    const { body } = await tampered.call('AuditService/VerifyChain', {});
    await tampered.control.close();
    expect(body['healthy'] ?? false).toBe(false);
    const named = (body['breaks'] as { rowId: string }[]).map(({ rowId }) => auditKey(rowId));
    expect(named).toEqual(gone);
  });

  test('restore is refused over a running service, and over contents without --force', async () => {
    expect(await waf('admin', 'restore', backup, '--data', data, '--force')).toBe(1);
    expect(err).toContain('stop it first');
    const target = await restored();
    expect(await waf('admin', 'restore', backup, '--data', target)).toBe(1);
    expect(err).toContain('--force');
    expect(await waf('admin', 'restore', backup, '--data', target, '--force')).toBe(0);
  });

  test('what cannot be done is a sentence, not a stack', async () => {
    for (const line of [
      ['backup', backup, '--data', data],
      ['backup', backup, '--data', scratch()],
      ['restore', '/nonexistent', '--data', join(scratch(), 'x')],
      ['verify', '--data', scratch()],
      ['verify', '/nonexistent/backup'],
      ['verify', '--api', 'https://waf.example'],
    ]) {
      expect(await waf('admin', ...line), line.join(' ')).toBe(1);
      expect(err).toMatch(/^waf: [^\n]+\n$/);
    }
  });
});

describe('waf doctor', () => {
  const examine = async (...line: string[]): Promise<{ code: number; findings: Finding[] }> => {
    const code = await waf('doctor', '--output', 'json', '--management', '127.0.0.1:0', ...line);
    return { code, findings: (JSON.parse(out) as { findings: Finding[] }).findings };
  };
  const severityOf = (findings: Finding[], check: string): string[] =>
    findings.filter((one) => one.check === check).map(({ severity }) => severity);

  test('a running service without an engine: the error comes first', async () => {
    const { code, findings } = await examine('--data', data, '--deep');
    expect(code).toBe(1);
    expect(findings[0]).toMatchObject({ severity: 'error', check: 'engine' });
    expect(severityOf(findings, 'store')).toContain('ok');
    expect(severityOf(findings, 'store contents')).toEqual(['ok']);
    expect(severityOf(findings, 'administration socket')).toEqual(['ok']);
    expect(findings.every(({ severity, action }) => severity !== 'error' || action !== '')).toBe(
      true,
    );
    expect(await waf('doctor', '--data', data)).toBe(1);
    expect(out).toMatch(/^error {4}engine: .+\n {9}to do: /);
  });

  test('a folder that was never used has no errors of its own', async () => {
    const { findings } = await examine('--data', join(scratch(), 'x'), '--proxy', '127.0.0.1:0');
    const ours = findings.filter(({ check }) => !['native addon', 'product'].includes(check));
    expect(ours.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(severityOf(findings, 'port')).toEqual(['ok', 'ok']);
  });

  test('what is wrong is found: open secrets, a busy port, a broken chain, a dead restore', async () => {
    const target = await restored();
    const kv = openLmdbKv({ folder: join(target, 'control'), durable: false });
    await kv.write((writer) => {
      const last = [...writer.range({ start: 'a', end: 'b', reverse: true, limit: 1 })];
      for (const row of last) writer.remove(row.key);
    });
    await kv.close();
    const key = join(target, 'admin-password');
    chmodSync(key, 0o644);
    writeFileSync(join(target, '.restore-ready'), '');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { code, findings } = await examine('--data', target, '--proxy', `127.0.0.1:${port}`);
    server.close();
    rmSync(join(target, '.restore-ready'));
    expect(code).toBe(1);
    expect(severityOf(findings, 'data folder')).toEqual(['error']);
    expect(severityOf(findings, 'port')).toContain('error');
    expect(severityOf(findings, 'audit chain')).toEqual(['error']);
    expect(severityOf(findings, 'restore')).toEqual(['warning']);
    const order = findings.map(({ severity }) => severity);
    expect(order).toEqual(
      order.toSorted((left, right) => rank.indexOf(left) - rank.indexOf(right)),
    );
  });

  test('a store that is none is an error', async () => {
    const target = await restored((put) => put('m\u0000schema', 99));
    const { code, findings } = await examine('--data', target);
    expect(code).toBe(1);
    expect(findings.find(({ check }) => check === 'store')?.finding).toContain('newer version');
    writeFileSync(join(target, 'control', 'data.mdb'), 'nonsense');
    expect(severityOf((await examine('--data', target)).findings, 'store')).toEqual(['error']);
  });
});

const rank = ['error', 'warning', 'note', 'ok'];
