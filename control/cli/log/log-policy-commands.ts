/** `waf log policy`: what is recorded of requests, and for how long. */

import type {
  LogPolicyJson,
  LogStorageHealth,
  SiteLogPolicyOverrideJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { ApiClient } from '../api-client.ts';
import { againWhenChanged } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import { readMessage, showMessage, showRemoved } from '../show.ts';

const loadLog = () => import('../../../proto/gen/waf/v1/log_pb.ts');

const siteFlag: FlagDefinition = {
  flags: '--site <site>',
  summary: 'a site; without it the whole deployment',
  resource: 'site',
};

const modes = ['none', 'exemplars', 'all'];

/** A field of the policy and its flag. */
interface FieldFlag {
  readonly name: string;
  readonly field: keyof LogPolicyJson;
  readonly summary: string;
  /** Words of an enum, and what stands before them in the API. */
  readonly words?: readonly string[];
  readonly prefix?: string;
  readonly onOff?: true;
  /** A site can change it. */
  readonly ofSite?: true;
}

const detail = { words: modes, prefix: 'LOG_DETAIL_MODE_', ofSite: true } as const;

const fieldFlags: readonly FieldFlag[] = [
  { name: 'access', field: 'accessMode', summary: 'access events that are kept', ...detail },
  { name: 'security', field: 'securityMode', summary: 'security events with details', ...detail },
  {
    name: 'evidence',
    field: 'requestEvidenceMode',
    summary: 'requests whose headers and bodies are kept',
    words: ['off', 'security_only', 'retained_logs'],
    prefix: 'REQUEST_EVIDENCE_MODE_',
    ofSite: true,
  },
  {
    name: 'evidence-body',
    field: 'requestEvidenceBodyMode',
    summary: 'how much of a body is kept',
    words: ['off', 'prefix', 'full'],
    prefix: 'REQUEST_EVIDENCE_BODY_MODE_',
  },
  {
    name: 'under-pressure',
    field: 'pressurePolicy',
    summary: 'what happens when the disk fills up',
    words: ['protect_traffic', 'report_only'],
    prefix: 'LOG_PRESSURE_POLICY_',
  },
  days('access-days', 'accessFullRetentionDays', 'access events', true),
  days('security-days', 'securityFullRetentionDays', 'details of security events', true),
  days('exemplar-days', 'exemplarRetentionDays', 'exemplars', true),
  days('fact-days', 'securityFactRetentionDays', 'facts of security events'),
  days('evidence-days', 'requestEvidenceRetentionDays', 'evidence'),
  {
    name: 'pairing',
    field: 'evidencePairing',
    summary: 'keep the access event of each security event',
    onOff: true,
    ofSite: true,
  },
  { name: 'status-exemplars', field: 'statusExemplarK', summary: 'kept of a status in a window' },
  { name: 'api-exemplars', field: 'apiExemplarK', summary: 'kept of a path in a window' },
  { name: 'rule-exemplars', field: 'securityExemplarK', summary: 'kept of a rule in a window' },
  { name: 'window', field: 'sampleWindowSeconds', summary: 'seconds of a sampling window' },
  {
    name: 'evidence-header-bytes',
    field: 'requestEvidenceHeaderMaxBytes',
    summary: 'bytes of header fields that are kept',
  },
  {
    name: 'evidence-body-bytes',
    field: 'requestEvidenceBodyMaxBytes',
    summary: 'bytes of the beginning of a body that are kept',
  },
];

function days(name: string, field: keyof LogPolicyJson, what: string, ofSite = false): FieldFlag {
  const summary = `days for which ${what} are kept`;
  return { name, field, summary, ...(ofSite ? { ofSite: true } : {}) };
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
      ...fieldFlags.map(({ name, summary, words, onOff }) => ({
        flags: `--${name} <${words !== undefined ? 'mode' : onOff ? 'on|off' : 'number'}>`,
        summary,
        ...(words === undefined ? (onOff ? { choices: ['on', 'off'] } : {}) : { choices: words }),
      })),
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
  const { LogPolicySchema } = await loadLog();
  const { toJson } = await import('@bufbuild/protobuf');
  const response = await logs.getGlobalLogPolicy({});
  const policy = response.policy?.policy;
  const json = policy === undefined ? {} : (toJson(LogPolicySchema, policy) as LogPolicyJson);
  const rows = fieldFlags.map((flag) => [flag.name, wordOf(flag, json)]);
  await showMessage(context, response, { columns: ['SETTING', 'VALUE'], rows });
  const { storageHealth } = response;
  if (storageHealth !== undefined) context.output.note(await healthText(storageHealth));
  return 0;
}

async function showSite(context: CommandContext, logs: Logs, siteId: string): Promise<number> {
  const { ResolvedLogPolicySchema } = await loadLog();
  const { toJson } = await import('@bufbuild/protobuf');
  const response = await logs.getSiteLogPolicy({ siteId });
  const { policy } = response;
  const json = (policy === undefined ? {} : toJson(ResolvedLogPolicySchema, policy)) as {
    effective?: LogPolicyJson;
    effectiveSources?: Readonly<Record<string, string>>;
  };
  const rows = fieldFlags.map((flag) => [
    flag.name,
    wordOf(flag, json.effective ?? {}),
    (json.effectiveSources?.[flag.field] ?? '').replace('LOG_POLICY_SOURCE_', '').toLowerCase(),
  ]);
  return showMessage(context, response, { columns: ['SETTING', 'VALUE', 'SET BY'], rows });
}

async function setGlobal(context: CommandContext, logs: Logs, flags: FlagValues): Promise<number> {
  const { LogPolicySchema } = await loadLog();
  const { toJson } = await import('@bufbuild/protobuf');
  const [wanted, response] = await againWhenChanged(async () => {
    const { policy: present } = await logs.getGlobalLogPolicy({});
    const before = present?.policy === undefined ? {} : toJson(LogPolicySchema, present.policy);
    const after = { ...(before as LogPolicyJson), ...readFields(flags, false) };
    const answer = await logs.updateGlobalLogPolicy({
      policy: await readMessage(LogPolicySchema, after, 'policy'),
      expectedRevision: present?.revision ?? 0n,
      acknowledgeStorageRisk: switchFlag(flags, 'acknowledgeStorageRisk'),
    });
    return [after, answer] as const;
  });
  const rows = fieldFlags.map((flag) => [flag.name, wordOf(flag, wanted)]);
  return showMessage(context, response, { columns: ['SETTING', 'VALUE'], rows });
}

async function setSite(
  context: CommandContext,
  logs: Logs,
  siteId: string,
  flags: FlagValues,
): Promise<number> {
  const { SiteLogPolicyOverrideSchema } = await loadLog();
  const { toJson } = await import('@bufbuild/protobuf');
  const [wanted, response] = await againWhenChanged(async () => {
    const { override, policy } = await logs.getSiteLogPolicy({ siteId });
    const before =
      override === undefined
        ? {}
        : (toJson(SiteLogPolicyOverrideSchema, override) as SiteLogPolicyOverrideJson);
    const after = { ...before, ...readFields(flags, true), siteId };
    const answer = await logs.upsertSiteLogPolicyOverride({
      override: await readMessage(SiteLogPolicyOverrideSchema, after, 'override'),
      expectedRevision: policy?.siteRevision ?? 0n,
      acknowledgeStorageRisk: switchFlag(flags, 'acknowledgeStorageRisk'),
    });
    return [after, answer] as const;
  });
  const rows = fieldFlags
    .filter(({ field }) => field in wanted)
    .map((flag) => [flag.name, wordOf(flag, wanted)]);
  return showMessage(context, response, { columns: ['SETTING', 'VALUE'], rows });
}

/** What flags say, as fields of the API. Errors: AppError bad_flag. */
function readFields(flags: FlagValues, ofSite: boolean): LogPolicyJson {
  const fields: Record<string, unknown> = {};
  for (const flag of fieldFlags) {
    const { name, field, words, prefix = '', onOff } = flag;
    const value = textFlag(
      flags,
      name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    );
    if (value === undefined) continue;
    if (ofSite && flag.ofSite !== true) throw badFlag(`--${name} goes without --site only`);
    if (words !== undefined) fields[field] = `${prefix}${value.toUpperCase()}`;
    else if (onOff === true) fields[field] = value === 'on';
    else if (/^\d{1,10}$/.test(value)) fields[field] = Number(value);
    else throw badFlag(`--${name} wants a number`);
  }
  if (Object.keys(fields).length === 0) {
    throw badFlag('name a setting to change, for example --access all');
  }
  return fields;
}

/** A value as flags spell it. */
function wordOf({ field, prefix = '', onOff }: FieldFlag, policy: LogPolicyJson): string {
  const value = policy[field];
  if (onOff === true) return value === true ? 'on' : 'off';
  if (typeof value === 'string') return value.replace(prefix, '').toLowerCase();
  return String(value ?? 0);
}

/** The store in one line. */
async function healthText(health: LogStorageHealth): Promise<string> {
  const { LogStorageHealthStatus } = await loadLog();
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
