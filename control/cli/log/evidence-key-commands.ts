/** `waf log evidence-keys`: what evidence at rest is encrypted with, and a new key at once. */

import type { EvidenceKey } from '../../../proto/gen/waf/evidence/v1/evidence_key_pb.ts';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { textFlag, type CommandDefinition } from '../command.ts';
import { callCommand } from '../regular-commands.ts';
import { timeText } from '../show.ts';

const columns = ['KEY', 'MADE', 'KEPT UNTIL'];

/** Commands on the keys of evidence. */
export const evidenceKeyCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['log', 'evidence-keys'],
    summary: 'List the keys that evidence of requests is encrypted with',
    help:
      'The bytes of keys are never shown. A new key is taken every 30 days. Where the file of\n' +
      'keys was lost, a line says which evidence cannot be read any more.',
    call: ({ evidenceKeys }) => evidenceKeys.listEvidenceKeys({}),
    table: ({ items }) => ({ columns, rows: items.map(rowOf) }),
    after: ({ output }, response) => {
      if (response.unreadableBefore !== undefined) {
        output.note(lostKeyText(response.unreadableBefore));
      }
    },
  }),
  callCommand({
    path: ['log', 'evidence-key-rotate'],
    summary: 'Encrypt evidence of requests with a new key from now on',
    help:
      'Evidence that is kept stays readable with the key that encrypted it, until its days end.\n' +
      'After a leak of the file of keys remove earlier evidence, too: lower --evidence-days of\n' +
      'log policy-set. Example: waf log evidence-key-rotate',
    flags: [{ flags: '--current <key>', summary: 'rotate only while this key is the one in use' }],
    call: ({ evidenceKeys }, _args, flags) => {
      const currentKeyId = textFlag(flags, 'current') ?? '';
      return evidenceKeys.rotateEvidenceKey({ currentKeyId });
    },
    table: ({ key }) => ({ columns, rows: [key!].map(rowOf) }),
  }),
];

/** What a lost key means. */
export function lostKeyText(before: Timestamp): string {
  return `evidence before ${timeText(before)} cannot be read: the key that encrypted it is missing`;
}

function rowOf({ id, createdAt, current, keptUntil }: EvidenceKey): string[] {
  return [id, timeText(createdAt), current ? 'in use' : timeText(keptUntil)];
}
