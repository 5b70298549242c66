/** Owns the list of static gates. All of them run even when one fails; two at a time. */

import { existsSync } from 'node:fs';
import { compareContract } from './breaking.mjs';
import { compareGenerated } from './generated.mjs';
import { inRoot, listFiles } from './paths.mjs';
import { run, say, tail } from './process.mjs';

const bin = (name) => inRoot('node_modules', '.bin', name);
const sourceFolders = ['engine', 'control', 'native-bindings', 'proto', 'bench', 'test'];

const gates = [
  { name: 'types', command: 'tsc', args: ['--noEmit', '-p', '.'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', command: 'prettier', args: ['--check', '--log-level', 'warn', '.'] },
  { name: 'native format', command: 'clang-format', args: ['--dry-run', '--Werror'], native: true },
  {
    name: 'arrows',
    command: 'depcruise',
    args: ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...sourceFolders],
  },
  { name: 'dead code', command: 'knip', args: ['--no-progress'] },
  { name: 'proto lint', command: 'buf', args: ['lint', 'proto'] },
  { name: 'proto breaks no client', body: () => compareContract() },
  { name: 'generated files', body: compareGenerated },
  { name: 'tidy', command: 'vitest', args: ['run', 'test/tidy'] },
];

/** Names of all gates. */
export const gateNames = gates.map(({ name }) => name);

/** Number of gates, for the closing line. */
export const gateCount = gates.length;

/**
 * Runs the gates but those in `without`, prints a line for each and the end of the output of those
 * that failed. Resolves to the names of the failed ones. Cost: under two minutes on two cores.
 */
export async function runGates(without = []) {
  const queue = gates.filter((gate) => !without.includes(gate.name));
  const failed = [];
  const worker = async () => {
    for (let gate = queue.shift(); gate !== undefined; gate = queue.shift()) {
      const began = performance.now();
      const { code, output, note = '' } = await runGate(gate);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const remark = note === '' ? '' : `: ${note}`;
      say(`${code === 0 ? 'ok  ' : 'FAIL'} ${gate.name} (${seconds} s)${remark}`);
      if (code === 0) continue;
      failed.push(gate.name);
      process.stderr.write(`${tail(output, 60)}\n\n`);
    }
  };
  await Promise.all([worker(), worker()]);
  return failed;
}

function runGate(gate) {
  if (gate.body) return gate.body();
  const files = gate.native
    ? listFiles(inRoot('native-bindings'), (name) => /\.(cc|h)$/.test(name))
    : [];
  const args = [...gate.args.filter(isPresent), ...files];
  return run(bin(gate.command), args, { env: { NO_COLOR: '1' } });
}

function isPresent(arg) {
  return !sourceFolders.includes(arg) || existsSync(inRoot(arg));
}
