/** The timing of body parsers: from bytes to argument values, without rules. */

import { loadRequestBody } from '../../engine/rules/load/request-body.ts';
import { loadRequestHead } from '../../engine/rules/load/request-head.ts';
import { Transaction } from '../../engine/rules/transaction/transaction.ts';
import type { ProgramSettings } from '../../engine/rules/transaction/types.ts';
import type { MicroGroup } from './group.ts';
import { emptyPorts } from './policy.ts';
import type { SampleShape } from './samples.ts';

const callsPerRun = 16;

/** One task a shape with a body, and one for reading heads and arguments alone. */
export function bodyGroup(shapes: readonly SampleShape[], settings: ProgramSettings): MicroGroup {
  const tx = new Transaction();
  const tasks = shapes
    .filter(({ name }) => name !== 'attack')
    .map(({ title, requests }) => {
      let at = 0;
      const run = (): void => {
        for (let i = 0; i < callsPerRun; i++) {
          const { snapshot, body } = requests[at++ % requests.length]!;
          tx.begin(snapshot, settings, emptyPorts);
          loadRequestHead(tx);
          if (body !== null && tx.bodyProcessor === '') tx.control.requestBodyProcessor = 'JSON';
          loadRequestBody(tx, body);
        }
      };
      return { name: title, run, calls: callsPerRun };
    });
  return { name: 'bodies', title: 'Head, arguments and body to values, no rules', tasks };
}
