/** The checks of what is installed: Node, the compiled product, the native addon. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { doctorLimits } from '../../../limits/command-limits.ts';
import { builtInCrsFolder } from '../../../publish/rulesets/ruleset-folder.ts';
import { error, ok, type Check, type Finding, type Patient } from './finding.ts';

/** Node is new enough for package.json. */
export const nodeCheck: Check = {
  name: 'node',
  look: ({ context: { packageFolder } }) => [
    judgeNode(process.versions.node, oldestNode(packageFolder)),
  ],
};

/** Errors: what reading package.json throws. */
function oldestNode(packageFolder: string): string {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  const { engines } = JSON.parse(text) as { engines?: { node?: string } };
  return engines?.node?.replace(/^>=\s*/, '') ?? '0';
}

/** Compares two versions number by number. */
export function judgeNode(version: string, oldest: string): Finding {
  const [have, want] = [version, oldest].map((text) => text.split('.').map(Number));
  const at = (want ?? []).findIndex((number, index) => number !== (have?.[index] ?? 0));
  const older = at >= 0 && (have?.[at] ?? 0) < (want?.[at] ?? 0);
  if (!older) return ok('node', `version ${version}`);
  return error('node', `version ${version} is too old`, `install Node ${oldest} or newer`);
}

/** The programs that `waf run` starts are compiled. */
export const buildCheck: Check = {
  name: 'product',
  look: ({ context: { packageFolder } }) => {
    const parts = ['control', 'engine'].map((name) => join('.build', name, 'main.js'));
    const missing = parts.filter((path) => !existsSync(join(packageFolder, path)));
    if (missing.length === 0) return [ok('product', 'compiled')];
    return [error('product', `${missing.join(', ')} is missing`, 'run npm start, which builds it')];
  },
};

/** The addon is there and loads; it brings the matching libraries of the system with it. */
export const addonCheck: Check = {
  name: 'native addon',
  look: ({ context: { packageFolder } }) => {
    const path = join(packageFolder, 'build', 'Release', 'waf_native.node');
    const check = 'native addon';
    const action = 'run npm start, which builds it';
    if (!existsSync(path)) return [error(check, `${path} is missing`, action)];
    // In a process of its own: a library that does not fit may end the process.
    const script = `const a = require(${JSON.stringify(path)}); console.log(a.hsVersion());`;
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
      encoding: 'utf8',
      timeout: doctorLimits.addonTimeoutMs,
    });
    if (status === 0) return [ok(check, `loads; Hyperscan ${stdout.trim()}`)];
    const reason = /^Error: (.+)$/m.exec(stderr)?.[1] ?? signal ?? `exit code ${status}`;
    return [error(check, `does not load: ${reason}`, action)];
  },
};

/** The ruleset that a first start takes. */
export const rulesetCheck: Check = {
  name: 'default ruleset',
  look: ({ running }: Patient) => {
    const folder = join(builtInCrsFolder, 'rules');
    if (existsSync(folder)) return [ok('default ruleset', folder)];
    if (running) return [];
    return [
      {
        severity: 'note',
        check: 'default ruleset',
        finding: `${folder} is missing: a first start has no CRS to begin with`,
        action: 'install the package modsecurity-crs',
      },
    ];
  },
};
