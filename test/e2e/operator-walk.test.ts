/**
 * The first day of an operator, with the texts that are printed: a site, a block, two exclusions, a
 * rule of their own, a ModSecurity set-up taken over, everything exported and put back.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, root, runWaf, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

const attack = '1%27%20OR%20%271%27=%271';
const modsecurity = join(root, 'test', 'seclang', 'modsecurity');

describe.skipIf(missingBuild !== null)("an operator's first day", () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-walk-'));
  let origin: Server;
  let product: Product;
  beforeAll(async () => {
    origin = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.end('shop\n'));
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await startProduct('--no-demo', '--workers', '1');
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command that has to succeed. */
  const waf = (...words: string[]): string => {
    const { code, stdout, stderr } = product.waf(...words);
    expect(code, `${words.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };
  const get = async (path: string): Promise<number> => {
    const url = `http://127.0.0.1:${product.proxyPort}${path}`;
    const { status } = await fetch(url, { headers: { 'X-Walk': '1' } });
    return status;
  };

  test('a site serves, and an attack is blocked', async () => {
    const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const printed = waf(
      ...['site', 'create', '--name', 'shop', '--host', '127.0.0.1', '--upstream', upstream],
    );
    expect(printed).toMatch(/shop +127\.0\.0\.1 +http:\/\/127\.0\.0\.1:\d+ +blocking/);
    expect(await get('/')).toBe(200);
    expect(await get(`/search?id=${attack}&q=${attack}`)).toBe(403);
  });

  test('the event says which rules blocked it', async () => {
    const printed = await eventually(() => {
      const text = waf('log', 'security', '--since', '5');
      return text.includes('942100') ? text : null;
    });
    expect(printed).toMatch(/403 +blocked +\d+ +GET 127\.0\.0\.1\/search +[\d ]*942100 /);
  });

  test('two exclusions add up; without a target nothing is taken away', async () => {
    const scope = ['--scope', '/search', '--site', 'shop'];
    const override = (rule: string, ...words: string[]) => [
      'rule',
      'override',
      'Light',
      rule,
      'exclude',
      ...words,
      ...scope,
    ];
    // The rule, and the detectors that its event names.
    for (const rule of ['942100', '198102', '198115']) {
      expect(waf(...override(rule, '--without', 'ARGS:id'))).toMatch(/exclude +!ARGS:id +\/sea/);
      expect(waf(...override(rule, '--without', 'ARGS:q'))).toMatch(/!ARGS:id\|!ARGS:q +\/search/);
    }
    const bare = product.waf(...override('942100'));
    expect([bare.code, bare.stderr]).toEqual([
      1,
      expect.stringContaining('without ARGS:id, without ARGS:q'),
    ]);
    expect(waf('rule', 'overrides', 'Light')).toContain('!ARGS:id|!ARGS:q');
    expect(await get(`/search?id=${attack}&q=${attack}`)).toBe(200);
    expect(await get(`/search?other=${attack}`)).toBe(403);
    expect(await get(`/else?id=${attack}`)).toBe(403);
  });

  test('a rule of their own, and one that cannot be', async () => {
    const file = join(folder, 'rule.conf');
    writeFileSync(file, 'SecRule REQUEST_HEADERS:X-Walk "@streq 2" "id:77,phase:1,deny"\n');
    expect(waf('rule', 'create', 'Light', '--name', 'walk', '--seclang', file)).toContain('walk');
    const url = `http://127.0.0.1:${product.proxyPort}/`;
    expect((await fetch(url, { headers: { 'X-Walk': '2' } })).status).toBe(403);
    expect(await get('/')).toBe(200);
    writeFileSync(file, 'SecRule ARGS "@rx (" "id:78,phase:2,deny"\n');
    const refused = product.waf('rule', 'create', 'Light', '--name', 'bad', '--seclang', file);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/line 1, column \d+: @rx: the argument is not a valid regular/);
  });

  test('a ModSecurity set-up becomes a policy, each directive with its fate', () => {
    const { code, stdout, stderr } = product.waf(
      ...['policy', 'import', modsecurity, '--name', 'imported', '--partial', '--no-wait'],
    );
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/\d+ directives for 3\.3\.4: \d+ honored, \d+ ignored, \d+ refused/),
    ]);
    expect(stdout).toMatch(/SecRuleRemoveById 920350 +honored +override of rule 920350: disabled/);
    expect(waf('policy', 'list')).toContain('imported');
  });

  test('a backup restores to a folder that verifies', () => {
    const file = join(folder, 'all.wafbackup');
    waf('admin', 'backup', file);
    expect(existsSync(file)).toBe(true);
    const data = join(folder, 'restored');
    const restored = runWaf(['admin', 'restore', file, '--data', data]);
    expect([restored.code, restored.stderr]).toEqual([0, expect.any(String)]);
    expect(runWaf(['admin', 'verify', '--data', data]).code).toBe(0);
  });

  test('what is exported makes an empty installation the same', async () => {
    const manifest = join(folder, 'all.yaml');
    const exported = waf('export');
    for (const part of ['ARGS:id', 'ARGS:q', 'X-Walk', 'imported', 'shop']) {
      expect(exported).toContain(part);
    }
    writeFileSync(manifest, exported);
    const other = await startProduct('--no-demo', '--workers', '1');
    try {
      const applied = other.waf('apply', '-f', manifest, '--no-wait');
      expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining('created')]);
      expect(other.waf('export').stdout).toBe(exported);
      const again = other.waf('apply', '-f', manifest, '--no-wait');
      expect(again.stderr).toMatch(/0 created, 0 updated/);
    } finally {
      await other.stop();
    }
  });
});
