/** `waf policy import` as an operator meets it: a dry run, a refusal, the policy that it makes. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBuild, root, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

if (missingBuild !== null) console.log(missingBuild);

const folder = join(root, 'test', 'seclang', 'modsecurity');

describe.skipIf(missingBuild !== null)('waf policy import', () => {
  let product: Product;
  beforeAll(async () => {
    product = await borrowProduct('--no-demo');
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
  });

  const names = (): string => product.waf('policy', 'list').stdout;

  test('a dry run prints the fate of every directive and makes nothing', () => {
    const { code, stdout, stderr } = product.waf(
      ...['policy', 'import', folder, '--name', 'imported', '--dry-run'],
    );
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/\d+ honored, \d+ ignored, 7 refused/),
    ]);
    expect(stdout).toMatch(/crs\/crs-setup\.conf:3 +SecAction 900000 +honored +crsCore\.blocking/);
    expect(stdout).toMatch(/SecRuleRemoveById 920350 +honored +override of rule 920350: disabled/);
    expect(stdout).toMatch(/modsecurity\.conf:32 +SecAuditLog .* +ignored +security events/);
    expect(stdout).toMatch(/own-rules\.conf:\d+ +SecRule 1004 +refused +@inspectFile is not/);
    expect(names()).not.toContain('imported');
  });

  test('with a refused directive nothing is created, unless --partial is given', () => {
    const line = ['policy', 'import', folder, '--name', 'imported'];
    const { code, stderr } = product.waf(...line);
    expect([code, stderr]).toEqual([1, expect.stringContaining('7 directives are refused')]);
    expect(names()).not.toContain('imported');
    const made = product.waf(...line, '--partial', '--no-wait');
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('1 created')]);
    expect(names()).toContain('imported');
    const again = product.waf(...line, '--partial', '--no-wait');
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('1 unchanged')]);
  });

  test('the policy blocks and lets through as the set-up did', () => {
    const tried = (...words: string[]): string => {
      const { stdout, stderr } = product.waf('policy', 'test', 'imported', ...words);
      return /(?:blocked|passed), status \d+/.exec(stdout)?.[0] ?? stderr;
    };
    expect(tried('--url', '/?mode=strict')).toBe('blocked, status 410');
    expect(tried('--url', '/?mode=strict', '--header', 'X-Skip: 1')).toBe('passed, status 200');
    expect(tried('--url', '/', '--header', 'User-Agent: evilbot')).toBe('blocked, status 403');
    expect(tried('--url', '/?a=forbidden')).toBe('passed, status 200');
    const attack = "id=1'%20UNION%20SELECT%20a%20FROM%20b--";
    expect(tried('--url', `/?${attack}`)).toBe('blocked, status 403');
    expect(tried('--url', `/health?${attack}`)).toBe('passed, status 200');
  });

  test('a folder without a configuration is named', () => {
    const { code, stderr } = product.waf('policy', 'import', join(root, 'proto'), '--name', 'none');
    expect(code).toBe(1);
    expect(stderr).toContain('it holds no *.conf file');
  });
});
