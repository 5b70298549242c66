/** The entries of the directives on logs. Where records go is for the log policy to say. */

import {
  choice,
  integer,
  manual,
  text,
  type DirectiveArgument,
  type DirectiveDefinition,
} from './definition.ts';

const destinationNote = 'records go where the log policy sends them';

function destination(
  name: string,
  summary: string,
  argument: DirectiveArgument,
  example: string,
): DirectiveDefinition {
  const note = destinationNote;
  return { name, summary, status: 'mapped', arguments: [argument], note, example, source: manual };
}

/** On logs. */
export const loggingDirectives: readonly DirectiveDefinition[] = [
  {
    name: 'SecAuditEngine',
    summary: 'Says which transactions are recorded in full.',
    status: 'mapped',
    arguments: [choice('On', 'Off', 'RelevantOnly')],
    note: 'every match of a rule that logs is recorded; the log policy says what is kept',
    example: 'SecAuditEngine RelevantOnly',
    source: manual,
  },
  {
    name: 'SecAuditLogParts',
    summary: 'Parts of a transaction that its record holds.',
    status: 'mapped',
    arguments: [text('letters A to K and Z')],
    note: 'records hold what the log policy keeps',
    example: 'SecAuditLogParts ABIJDEFHZ',
    source: manual,
  },
  {
    name: 'SecAuditLogRelevantStatus',
    summary: 'Statuses that make a transaction relevant for the record.',
    status: 'mapped',
    arguments: [text('regular expression')],
    note: 'the log policy says which transactions are recorded',
    example: 'SecAuditLogRelevantStatus "^(?:5|4(?!04))"',
    source: manual,
  },
  destination('SecAuditLog', 'File of the audit log.', text('file'), 'SecAuditLog /var/log/a.log'),
  destination('SecAuditLog2', 'Second audit log.', text('file'), 'SecAuditLog2 /var/log/b.log'),
  destination(
    'SecAuditLogType',
    'How audit records are written.',
    choice('Serial', 'Concurrent', 'Parallel', 'HTTPS'),
    'SecAuditLogType Serial',
  ),
  destination(
    'SecAuditLogFormat',
    'Format of audit records.',
    choice('JSON', 'Native', 'OCSF', 'JsonLegacy'),
    'SecAuditLogFormat JSON',
  ),
  destination(
    'SecAuditLogStorageDir',
    'Folder of concurrent audit records.',
    text('folder'),
    'SecAuditLogStorageDir /var/log/audit/',
  ),
  {
    ...destination(
      'SecAuditLogDir',
      'Folder of audit records.',
      text('folder'),
      'SecAuditLogDir a',
    ),
    source: 'Coraza, directives',
  },
  destination('SecAuditLogPrefix', 'Text before a record.', text('text'), 'SecAuditLogPrefix a'),
  destination(
    'SecAuditLogDirMode',
    'Mode of audit folders.',
    text('mode'),
    'SecAuditLogDirMode 02750',
  ),
  destination(
    'SecAuditLogFileMode',
    'Mode of audit files.',
    text('mode'),
    'SecAuditLogFileMode 0640',
  ),
  destination('SecDebugLog', 'File of the debug log.', text('file'), 'SecDebugLog /tmp/debug.log'),
  destination('SecDebugLogLevel', 'Detail of the debug log.', integer(0, 9), 'SecDebugLogLevel 0'),
];
