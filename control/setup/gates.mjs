/** The list of static gates. All of them run even when one fails; two at a time. */

import { compareContract } from './breaking.mjs';
import { compareGenerated } from './generated.mjs';
import { run, say, tail } from './process.mjs';

/** `script`: of package.json, where people find the commands, too. */
const gates = [
  { name: 'types', script: 'gate:types' },
  { name: 'lint', script: 'gate:lint' },
  { name: 'format', script: 'gate:format' },
  { name: 'native format', script: 'gate:native-format' },
  { name: 'arrows', script: 'gate:arrows' },
  { name: 'dead code', script: 'gate:dead-code' },
  { name: 'proto lint', script: 'gate:proto-lint' },
  { name: 'proto breaks no client', body: () => compareContract() },
  { name: 'generated files', body: compareGenerated },
  { name: 'tidy', script: 'gate:tidy' },
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

function runGate({ body, script }) {
  if (body) return body();
  return run('npm', ['run', '--silent', script], { env: { NO_COLOR: '1' } });
}
