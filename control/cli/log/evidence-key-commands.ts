/** `waf log evidence-keys`: what evidence at rest is encrypted with, and a new key at once. */

import type { EvidenceKey } from '../../../proto/gen/waf/evidence/v1/evidence_key_pb.ts';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { textFlag, type CommandDefinition } from '../command.ts';
import { showMessage, timeText } from '../show.ts';

const columns = ['KEY', 'MADE', 'KEPT UNTIL'];

/** Commands on the keys of evidence. */
export const evidenceKeyCommands: readonly CommandDefinition[] = [
  {
    path: ['log', 'evidence-keys'],
    summary: 'List the keys that evidence of requests is encrypted with',
    help:
      'The bytes of keys are never shown. A new key is taken every 30 days. Where the file of\n' +
      'keys was lost, a line says which evidence cannot be read any more.',
    run: async (context) => {
      const { evidenceKeys } = await context.api();
      const response = await evidenceKeys.listEvidenceKeys({});
      const rows = response.items.map(rowOf);
      await showMessage(context, response, { columns, rows });
      if (response.unreadableBefore !== undefined) {
        context.output.note(lostKeyText(response.unreadableBefore));
      }
      return 0;
    },
  },
  {
    path: ['log', 'evidence-key-rotate'],
    summary: 'Encrypt evidence of requests with a new key from now on',
    help:
      'Evidence that is kept stays readable with the key that encrypted it, until its days end.\n' +
      'After a leak of the file of keys remove earlier evidence, too: lower --evidence-days of\n' +
      'log policy-set. Example: waf log evidence-key-rotate',
    flags: [{ flags: '--current <key>', summary: 'rotate only while this key is the one in use' }],
    run: async (context, _args, flags) => {
      const { evidenceKeys } = await context.api();
      const currentKeyId = textFlag(flags, 'current') ?? '';
      const response = await evidenceKeys.rotateEvidenceKey({ currentKeyId });
      const rows = [response.key!].map(rowOf);
      return showMessage(context, response, { columns, rows });
    },
  },
];

/** What a lost key means. */
export function lostKeyText(before: Timestamp): string {
  return `evidence before ${timeText(before)} cannot be read: the key that encrypted it is missing`;
}

function rowOf({ id, createdAt, current, keptUntil }: EvidenceKey): string[] {
  return [id, timeText(createdAt), current ? 'in use' : timeText(keptUntil)];
}
