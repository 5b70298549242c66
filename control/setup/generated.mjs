/** The check that proto/gen is what the .proto files generate. Never writes into proto/. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { inRoot, listFiles } from './paths.mjs';
import { run } from './process.mjs';

/** Generates into a scratch folder and compares. Resolves to {code, output} like a program. */
export async function compareGenerated() {
  const scratch = mkdtempSync(join(tmpdir(), 'waf-gen-'));
  try {
    const result = await run('buf', ['generate', '--output', scratch], {
      cwd: inRoot('proto'),
      env: { PATH: `${inRoot('node_modules', '.bin')}:${process.env.PATH}` },
    });
    if (result.code !== 0) return result;
    const fresh = readFolder(join(scratch, 'gen'));
    const committed = readFolder(inRoot('proto', 'gen'));
    const output = compareFolders(fresh, committed);
    return { code: output === '' ? 0 : 1, output };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Contents by path, generated sources only. */
function readFolder(folder) {
  const files = listFiles(folder, (name) => name.endsWith('.ts'));
  return new Map(files.map((file) => [relative(folder, file), readFileSync(file, 'utf8')]));
}

/** What differs, one line each; '' when both sides are equal and not empty. */
export function compareFolders(fresh, committed) {
  if (fresh.size === 0) return 'buf generated nothing: the comparison would prove nothing';
  const lines = [];
  for (const [path, text] of fresh) {
    if (!committed.has(path)) lines.push(`missing: proto/gen/${path}`);
    else if (committed.get(path) !== text) lines.push(`out of date: proto/gen/${path}`);
  }
  for (const path of committed.keys()) {
    if (!fresh.has(path)) lines.push(`left over: proto/gen/${path}`);
  }
  return lines.join('\n');
}
