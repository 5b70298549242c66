/**
 * The check that the contract breaks no client: the .proto files against those of the main branch,
 * or of the commit before when the checkout is the main branch itself. Where there is nothing to
 * compare with (no repository, a clone of one commit) it prints a note and passes.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot, root } from './paths.mjs';
import { run } from './process.mjs';

const mainBranches = ['refs/remotes/origin/main', 'refs/heads/main'];

/** Compares. Resolves to {code, output, note} like a program; `note` says what it compared with. */
export async function compareContract(checkout = root) {
  const base = await findBase(checkout);
  if (base === null) {
    return { code: 0, output: '', note: 'nothing to compare with: no other commit of proto/' };
  }
  const scratch = mkdtempSync(join(tmpdir(), 'waf-contract-'));
  try {
    const archive = join(scratch, 'proto.tar');
    const before = join(scratch, 'before');
    mkdirSync(before);
    const steps = [
      ['git', ['archive', '--output', archive, base, 'proto']],
      ['tar', ['-xf', archive, '-C', before]],
      [
        inRoot('node_modules', '.bin', 'buf'),
        ['breaking', join(checkout, 'proto'), '--against', join(before, 'proto')],
      ],
    ];
    for (const [command, args] of steps) {
      const { code, output } = await run(command, args, { cwd: checkout, env: { NO_COLOR: '1' } });
      if (code !== 0) return { code, output };
    }
    return { code: 0, output: '', note: `compared with ${base.slice(0, 12)}` };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The commit to compare with; null when there is none that has proto/. */
async function findBase(checkout) {
  const git = async (...args) => {
    const { code, output } = await run('git', args, { cwd: checkout }).catch(() => ({ code: 1 }));
    return code === 0 ? output.trim() : '';
  };
  // A folder inside a repository of somebody else is no checkout of ours.
  if ((await git('rev-parse', '--show-prefix')) !== '') return null;
  const head = await git('rev-parse', '--verify', 'HEAD^{commit}');
  if (head === '') return null;
  const candidates = [];
  for (const branch of mainBranches) candidates.push(await git('merge-base', 'HEAD', branch));
  candidates.push(await git('rev-parse', '--verify', '--quiet', 'HEAD^1^{commit}'));
  for (const commit of candidates) {
    if (commit === '' || commit === head) continue;
    if ((await git('ls-tree', '--name-only', commit, 'proto/buf.yaml')) !== '') return commit;
  }
  return null;
}
