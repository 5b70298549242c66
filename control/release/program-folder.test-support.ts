/** A folder that looks like a built program to what packs one. */

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Makes it, under a path that begins so; every file has a few bytes. */
export function programFolder(begins = join(tmpdir(), 'waf-program-')): string {
  const folder = mkdtempSync(begins);
  const files = {
    'package.json': '{"dependencies":{}}',
    'package-lock.json': '{"packages":{}}',
    '.build/programs.json': '["control/cli/main.js"]',
    '.build/control/cli/main.js': 'first',
    '.build/control/cli/module.js': 'joined into the program',
    '.build/console/index.html': '',
    'build/Release/waf.node': '',
    'deploy/alerts/rules.yaml': '',
    'deploy/grafana/traffic.json': '',
    'deploy/guides/console.md': '',
    'deploy/patches/known-faults.yaml': '',
    'deploy/prometheus/rules.yml': '',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
