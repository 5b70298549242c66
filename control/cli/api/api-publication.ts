/** The review of a change of API checks, the question, and its publication. */

import { randomUUID } from 'node:crypto';
import type {
  PreviewSchemaControlResponse,
  SchemaControlApproval,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { commandLineLimits } from '../../limits/command-limits.ts';
import {
  readAnswer,
  type ControlChanges,
  type ControlResources,
  type ReportedDiagnostic,
} from './api-answers.ts';
import type { PlannedMapping } from './api-mappings.ts';
import type { PlannedOperation } from './api-modes.ts';
import { askLine } from '../auth-prompt.ts';
import {
  switchFlag,
  type CommandContext,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { printable } from '../show.ts';

/** The flag that answers the question. */
export const yesFlag: FlagDefinition = {
  flags: '--yes',
  summary: 'publish what is shown, without a question',
};

/** A change that is staged and not published. */
export interface StagedChange {
  readonly siteId: string;
  /** Controls of the site that the change was made from. */
  readonly snapshotSha256: string;
  readonly contractId: string;
  readonly bindingId: string;
  /** '' keeps the one in force. */
  readonly undeclaredAction: string;
  readonly operations: readonly PlannedOperation[];
  readonly mappings: readonly PlannedMapping[];
  readonly diagnostics: readonly ReportedDiagnostic[];
  /** Diagnostics that are not in the list. */
  readonly omitted: number;
  readonly reason: string;
}

/** Shows what a change does and publishes it once that is confirmed. Resolves to the exit code. */
export async function reviewAndPublish(
  context: CommandContext,
  change: StagedChange,
  flags: FlagValues,
): Promise<number> {
  const { output } = context;
  const { siteId, contractId, bindingId, undeclaredAction } = change;
  const { apiSchemas } = await context.api();
  const preview = await apiSchemas.previewSchemaControl({
    ...{ siteId, action: 'activate', contractId, bindingId, undeclaredAction },
  });
  if (preview.approval?.beforeSnapshotSha256 !== change.snapshotSha256) {
    const message = 'The checks of the site changed in between. Run the command again.';
    throw new AppError('aborted', message, { source: 'client' });
  }
  const resources = readAnswer<ControlResources>(preview.resourcesJson);
  const forPeople = output.format === 'table';
  if (forPeople) showPlan(context, change, preview);
  const stopped = preview.executionSupported ? '' : resources.unsupported;
  const publishes = stopped === '' && (await isConfirmed(forPeople, flags));
  const intentId = publishes ? await publish(context, preview.approval, change) : '';
  if (!forPeople) showPlan(context, change, preview, intentId);
  if (publishes) {
    output.note(`Published as ${intentId}. See what nodes serve with: waf api status --site SITE`);
    return 0;
  }
  output.note(
    stopped === ''
      ? 'Nothing is published. Add --yes to publish what is shown.'
      : `Nothing is published: ${printable(stopped)}`,
  );
  return 1;
}

async function isConfirmed(forPeople: boolean, flags: FlagValues): Promise<boolean> {
  if (switchFlag(flags, 'yes')) return true;
  // A program reads one answer: nobody is asked in the middle of it.
  return forPeople && /^y(?:es)?$/i.test(await askLine('Publish it? [y/N] ', '--yes'));
}

async function publish(
  context: CommandContext,
  approval: SchemaControlApproval,
  { reason }: StagedChange,
): Promise<string> {
  const { apiSchemas } = await context.api();
  const { intent } = await apiSchemas.changeSchemaControl({
    approval,
    reason,
    idempotencyKey: randomUUID(),
    // All of it is in what was shown.
    impactAcknowledged: true,
    resourceAcknowledged: true,
    typeOnlyAcknowledged: true,
    acceptPartial: approval.requiresPartialAcceptance,
  });
  return intent?.id ?? '';
}

function showPlan(
  { output }: CommandContext,
  change: StagedChange,
  preview: PreviewSchemaControlResponse,
  intentId = '',
): void {
  const { siteId, contractId, bindingId, mappings, operations, diagnostics, omitted } = change;
  const resources = readAnswer<ControlResources>(preview.resourcesJson);
  const { removed, undeclaredAction } = readAnswer<ControlChanges>(preview.changesJson);
  const [before, after] = undeclaredAction;
  output.result(
    {
      ...{ siteId, contractId, bindingId, mappings, operations, removed },
      ...{ diagnostics, omittedDiagnostics: omitted, undeclaredAction: { before, after } },
      ...{ resources, published: intentId !== '', intentId },
    },
    {
      columns: ['OPERATION', 'MODE', 'WAS', 'CHECKED', 'NOT CHECKED'],
      rows: operations.map((one) => [
        ...[one.key, one.after, one.before, String(one.checked), String(one.unchecked)],
      ]),
    },
  );
  for (const { host, basePath, serverUrl } of mappings) {
    const from = serverUrl === '' ? 'the document' : printable(serverUrl);
    output.line(`${from} is at ${host}${basePath || '/'}`);
  }
  for (const line of diagnosticLines(change)) output.line(line);
  if (removed.length > 0) output.line(`no longer declared: ${printable(removed.join(', '))}`);
  output.line(
    `${resources.observed} observed, ${resources.enforced} enforced, ${resources.partial} of them ` +
      `checked in part; ${resources.artifactBytes} bytes of checks`,
  );
  output.line(
    `requests that no operation takes: ${after}${before === after ? '' : ` (${before} before)`}`,
  );
  output.line('Checks look at the form of requests only, never at who sends them.');
}

function diagnosticLines({ diagnostics, omitted }: StagedChange): string[] {
  const shown = diagnostics.slice(0, commandLineLimits.diagnosticsShownMax);
  const left = diagnostics.length - shown.length + omitted;
  return [
    ...shown.map(({ severity, pointer, message }) =>
      printable(`${severity}: ${pointer || '/'}: ${message}`),
    ),
    ...(left === 0 ? [] : [`${left} more; --output json and waf api-document report show them`]),
  ];
}
