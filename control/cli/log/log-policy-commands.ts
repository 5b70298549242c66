/** `waf log policy`: what is recorded of requests, and for how long. */

import type { DescMessage } from '@bufbuild/protobuf';
import {
  LogPolicySchema,
  LogStorageHealthStatus,
  ResolvedLogPolicySchema,
  SiteLogPolicyOverrideSchema,
  type LogPolicyJson,
  type LogStorageHealth,
  type SiteLogPolicyOverrideJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { ApiClient } from '../api-client.ts';
import { againWhenChanged } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { flagsOf, nameOf, readFields, shownField, type FieldFlag } from '../field-flags.ts';
import { badFlag } from '../input.ts';
import { readMessage, showMessage, showRemoved } from '../show.ts';

const siteFlag: FlagDefinition = {
  flags: '--site <site>',
  summary: 'a site; without it the whole deployment',
  resource: 'site',
};

const fieldFlags: readonly FieldFlag[] = [
  { flags: '--access <mode>', field: 'accessMode', summary: 'access events that are kept' },
  { flags: '--security <mode>', field: 'securityMode', summary: 'security events with details' },
  {
    flags: '--evidence <mode>',
    field: 'requestEvidenceMode',
    summary: 'requests whose headers and bodies are kept',
  },
  {
    flags: '--evidence-body <mode>',
    field: 'requestEvidenceBodyMode',
    summary: 'how much of a body is kept',
  },
  {
    flags: '--under-pressure <mode>',
    field: 'pressurePolicy',
    summary: 'what happens when the disk fills up',
  },
  days('access', 'accessFullRetentionDays', 'access events'),
  days('security', 'securityFullRetentionDays', 'details of security events'),
  days('exemplar', 'exemplarRetentionDays', 'exemplars'),
  days('fact', 'securityFactRetentionDays', 'facts of security events'),
  days('evidence', 'requestEvidenceRetentionDays', 'evidence'),
  {
    flags: '--pairing <on|off>',
    field: 'evidencePairing',
    summary: 'keep the access event of each security event',
  },
  count('status-exemplars', 'statusExemplarK', 'kept of a status in a window'),
  count('api-exemplars', 'apiExemplarK', 'kept of a path in a window'),
  count('rule-exemplars', 'securityExemplarK', 'kept of a rule in a window'),
  count('window', 'sampleWindowSeconds', 'seconds of a sampling window'),
  count(
    'evidence-header-bytes',
    'requestEvidenceHeaderMaxBytes',
    'bytes of header fields that are kept',
  ),
  count(
    'evidence-body-bytes',
    'requestEvidenceBodyMaxBytes',
    'bytes of the beginning of a body that are kept',
  ),
];

function days(name: string, field: keyof LogPolicyJson, what: string): FieldFlag {
  return count(`${name}-days`, field, `days for which ${what} are kept`);
}

function count(name: string, field: keyof LogPolicyJson, summary: string): FieldFlag {
  return { flags: `--${name} <number>`, field, summary, wanted: 'wants a number' };
}

/** Commands on log policies. */
export const logPolicyCommands: readonly CommandDefinition[] = [
  {
    path: ['log', 'policy'],
    summary: 'Show what is recorded of requests, and for how long',
    flags: [siteFlag],
    run: async (context, _args, flags) => {
      const siteId = textFlag(flags, 'site') ?? '';
      const { logs } = await context.api();
      return siteId === '' ? showGlobal(context, logs) : showSite(context, logs, siteId);
    },
  },
  {
    path: ['log', 'policy-set'],
    summary: 'Change what is recorded of requests; unspecified options are unchanged',
    help: 'Example: waf log policy-set --site shop --access all --access-days 14',
    published: true,
    flags: [
      siteFlag,
      ...flagsOf(LogPolicySchema, fieldFlags),
      { flags: '--acknowledge-storage-risk', summary: 'accept what can fill the disk' },
    ],
    run: async (context, _args, flags) => {
      const siteId = textFlag(flags, 'site') ?? '';
      const { logs } = await context.api();
      if (siteId === '') return setGlobal(context, logs, flags);
      return setSite(context, logs, siteId, flags);
    },
  },
  {
    path: ['log', 'policy-reset'],
    summary: 'Let a site use the log policy of the deployment again',
    help: 'Example: waf log policy-reset --site shop',
    published: true,
    flags: [{ ...siteFlag, summary: 'the site', required: true }],
    run: async (context, _args, flags) => {
      const siteId = textFlag(flags, 'site') ?? '';
      const { logs } = await context.api();
      await againWhenChanged(async () => {
        const { override } = await logs.getSiteLogPolicy({ siteId });
        const expectedRevision = override?.revision ?? 0n;
        return logs.deleteSiteLogPolicyOverride({ siteId, expectedRevision });
      });
      return showRemoved(context, 'log policy of site', siteId);
    },
  },
];

type Logs = ApiClient['logs'];

async function showGlobal(context: CommandContext, logs: Logs): Promise<number> {
  const { toJson } = await import('@bufbuild/protobuf');
  const response = await logs.getGlobalLogPolicy({});
  const policy = response.policy?.policy;
  const json = policy === undefined ? {} : (toJson(LogPolicySchema, policy) as LogPolicyJson);
  const rows = fieldFlags.map((row) => cellsOf(row, json));
  await showMessage(context, response, { columns: ['SETTING', 'VALUE'], rows });
  const { storageHealth } = response;
  if (storageHealth !== undefined) context.output.note(healthText(storageHealth));
  return 0;
}

async function showSite(context: CommandContext, logs: Logs, siteId: string): Promise<number> {
  const { toJson } = await import('@bufbuild/protobuf');
  const response = await logs.getSiteLogPolicy({ siteId });
  const { policy } = response;
  const json = (policy === undefined ? {} : toJson(ResolvedLogPolicySchema, policy)) as {
    effective?: LogPolicyJson;
    effectiveSources?: Readonly<Record<string, string>>;
  };
  const rows = fieldFlags.map((row) => [
    ...cellsOf(row, json.effective ?? {}),
    (json.effectiveSources?.[row.field] ?? '').replace('LOG_POLICY_SOURCE_', '').toLowerCase(),
  ]);
  return showMessage(context, response, { columns: ['SETTING', 'VALUE', 'SET BY'], rows });
}

async function setGlobal(context: CommandContext, logs: Logs, flags: FlagValues): Promise<number> {
  const { toJson } = await import('@bufbuild/protobuf');
  const [wanted, response] = await againWhenChanged(async () => {
    const { policy: present } = await logs.getGlobalLogPolicy({});
    const before = present?.policy === undefined ? {} : toJson(LogPolicySchema, present.policy);
    const after = { ...(before as LogPolicyJson), ...namedFields(flags) };
    const answer = await logs.updateGlobalLogPolicy({
      policy: await readMessage(LogPolicySchema, after, 'policy'),
      expectedRevision: present?.revision ?? 0n,
      acknowledgeStorageRisk: switchFlag(flags, 'acknowledgeStorageRisk'),
    });
    return [after, answer] as const;
  });
  const rows = fieldFlags.map((row) => cellsOf(row, wanted));
  return showMessage(context, response, { columns: ['SETTING', 'VALUE'], rows });
}

async function setSite(
  context: CommandContext,
  logs: Logs,
  siteId: string,
  flags: FlagValues,
): Promise<number> {
  const { toJson } = await import('@bufbuild/protobuf');
  const [wanted, response] = await againWhenChanged(async () => {
    const { override, policy } = await logs.getSiteLogPolicy({ siteId });
    const before =
      override === undefined
        ? {}
        : (toJson(SiteLogPolicyOverrideSchema, override) as SiteLogPolicyOverrideJson);
    const after = { ...before, ...namedFields(flags, SiteLogPolicyOverrideSchema), siteId };
    const answer = await logs.upsertSiteLogPolicyOverride({
      override: await readMessage(SiteLogPolicyOverrideSchema, after, 'override'),
      expectedRevision: policy?.siteRevision ?? 0n,
      acknowledgeStorageRisk: switchFlag(flags, 'acknowledgeStorageRisk'),
    });
    return [after, answer] as const;
  });
  const rows = fieldFlags.filter(({ field }) => field in wanted).map((row) => cellsOf(row, wanted));
  return showMessage(context, response, { columns: ['SETTING', 'VALUE'], rows });
}

/** What flags say. Errors: AppError bad_flag, also for a field that `of` does not have. */
function namedFields(flags: FlagValues, of: DescMessage = LogPolicySchema): LogPolicyJson {
  const fields = readFields(LogPolicySchema, fieldFlags, flags);
  const known = new Set(of.fields.map(({ jsonName }) => jsonName));
  const stray = fieldFlags.find(({ field }) => field in fields && !known.has(field));
  if (stray !== undefined) throw badFlag(`${nameOf(stray)} goes without --site only`);
  if (Object.keys(fields).length === 0) {
    throw badFlag('name a setting to change, for example --access all');
  }
  return fields;
}

/** The name of a setting and its value, as flags spell both. */
function cellsOf(row: FieldFlag, policy: LogPolicyJson): [string, string] {
  const { [row.field as keyof LogPolicyJson]: value } = policy;
  return [nameOf(row).slice(2), shownField(LogPolicySchema, row, value)];
}

/** The store in one line. */
function healthText(health: LogStorageHealth): string {
  const gigabytes = (bytes: bigint): string => `${(Number(bytes) / 2 ** 30).toFixed(1)} GB`;
  const states = Object.entries(LogStorageHealthStatus);
  const status = (states.find(([, value]) => value === health.status)?.[0] ?? '').toLowerCase();
  const days = Number(health.estimatedRemainingSeconds) / 86_400;
  return (
    `log store: ${status}; ${gigabytes(health.managedBytes)} used, ` +
    `${gigabytes(health.filesystemAvailableBytes)} of the disk free` +
    (days > 0 ? `, full in ${days.toFixed(0)} days at the present rate` : '')
  );
}
