/** The proof that manifests become bundles, and that mistakes are named. */

import { existsSync, mkdtempSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSignedBundle } from '../../../engine/bundle/signed-bundle.ts';
import { toRuntimeConfig } from '../../../engine/bundle/runtime-config.ts';
import { buildBundleFromManifest } from './manifest.ts';
import { builtInCrsFolder } from '../rulesets/ruleset-folder.ts';

const manifest = (policy: string, site = ''): string => `
apiVersion: waf.io/v1
kind: Upstream
metadata: { name: shop-origin }
spec: { endpoints: [{ url: 'http://127.0.0.1:9000', weight: 2 }] }
---
apiVersion: waf.io/v1
kind: Policy
metadata: { name: tight }
spec:
${policy}
---
apiVersion: waf.io/v1
kind: Site
metadata: { name: shop }
spec:
  primaryHost: Shop.Example.com
  aliases: ['*.shop.example.com']
  upstreamRef: shop-origin
  policyRef: tight
${site}
`;

function rulesFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waf-rules-'));
  mkdirSync(join(folder, 'rules'));
  const rule = `SecRule ARGS "@contains evil" "id:942999,phase:2,deny,ver:'OWASP_CRS/4.9.1'"\n`;
  writeFileSync(join(folder, 'rules', 'REQUEST-942.conf'), rule);
  writeFileSync(join(folder, 'rules', 'words.data'), 'a\nb\n');
  writeFileSync(join(folder, 'rules', 'OFF.conf.example'), 'SecRule');
  return folder;
}

test('a manifest becomes a bundle that the engine side reads', () => {
  const text = manifest(`
  ruleset: { path: . }
  engineState: detection-only
  crsCore: { blockingParanoiaLevel: 2 }
  argLimits: { argLength: 400 }
  seclang: |
    SecAction "id:5,phase:1,pass,nolog"`);
  const built = buildBundleFromManifest(text, rulesFolder());
  expect(built).toMatchObject({ sites: 1, policies: 1, warnings: [] });
  const config = toRuntimeConfig(readSignedBundle(built.bytes));
  expect(config.sha256).toBe(built.sha256);
  const site = config.sites[0];
  expect(site?.hosts).toEqual(['shop.example.com', '*.shop.example.com']);
  expect(site?.upstream.endpoints).toEqual([{ host: '127.0.0.1', port: 9000, weight: 2 }]);
  const policy = config.policies[0];
  const paths = [...(policy?.files.keys() ?? [])].filter((path) => !path.endsWith('.mapping'));
  expect(paths).toEqual(['crs/rules/REQUEST-942.conf', 'crs/rules/words.data']);
  const lines = policy?.seclangEntry.split('\n') ?? [];
  expect(lines).toContain('SecRuleEngine DetectionOnly');
  expect(lines).toContain('Include crs/rules/REQUEST-942.conf');
  expect(lines).toContain('SecRuleUpdateActionById 920370 "deny,status:413"');
  expect(policy?.seclangEntry).toContain("setvar:'tx.blocking_paranoia_level=2'");
  expect(policy?.seclangEntry).toContain("setvar:'tx.crs_setup_version=491'");
  const own = lines.indexOf('SecAction "id:5,phase:1,pass,nolog"');
  const included = lines.findLastIndex((line) => line.startsWith('Include '));
  expect(included).toBeGreaterThan(0);
  expect(own).toBeGreaterThan(included);
  // Only the limits that rules reach while they run come later.
  expect(lines.slice(own + 1).join('\n')).toMatch(/^\nSecRule INSPECTION_LIMIT_ERROR [^]*199405/);
});

test('mistakes name the document and the field', () => {
  const build = (text: string) => () => buildBundleFromManifest(text, rulesFolder());
  const good = '  ruleset: { path: . }';
  expect(build(manifest(`${good}\n  color: red`))).toThrow(
    /^document 2 \(Policy tight\): Unknown field "spec\.color"/,
  );
  expect(build(manifest(`${good}\n  crsCore: { blockingParanoiaLevel: 9 }`))).toThrow(
    /document 2 \(Policy tight\): spec\.crsCore\.blockingParanoiaLevel: must be between 0 and 4/,
  );
  expect(build(manifest(`${good}\n  crsCore: { nonsense: 1 }`))).toThrow(/document 2 .*nonsense/);
  expect(build(manifest(`${good}\n  crsCore: { requestBodyLimitAction: reject }`))).toThrow(
    /document 2 .*spec\.crsCore\.requestBodyLimitAction: must be one of REQUEST_BODY_LIMIT_ACTION_/,
  );
  expect(build(manifest(`${good}\n  crsCore: { samplingPercentage: many }`))).toThrow(
    /document 2 .*spec\.crsCore\.samplingPercentage: /,
  );
  expect(build(manifest(good, '  waf: { mode: loud }'))).toThrow(
    /document 3 \(Site shop\): spec\.waf\.mode: must be one of blocking, detection/,
  );
  expect(build(manifest(good).replace('shop-origin\n  policyRef', 'nobody\n  policyRef'))).toThrow(
    /document 3 .*upstreamId: does not exist/,
  );
  expect(build('a: [')).toThrow(/document 1: is not valid YAML at line 1/);
  expect(build(manifest('  ruleset: { path: missing }'))).toThrow(/cannot be read/);
});

test.skipIf(!existsSync(builtInCrsFolder))("Debian's CRS is the ruleset crs-3.3.4", () => {
  const built = buildBundleFromManifest(manifest('  crsRulesetRef: crs-3.3.4'), '/');
  const policy = toRuntimeConfig(readSignedBundle(built.bytes)).policies[0];
  expect(policy?.seclangEntry).toContain("setvar:'tx.crs_setup_version=334'");
  expect(policy?.files.has('crs/rules/REQUEST-901-INITIALIZATION.conf')).toBe(true);
  expect(policy?.files.has('crs/rules/php-errors.data')).toBe(true);
});
