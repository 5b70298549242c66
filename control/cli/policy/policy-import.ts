/** `waf policy import`: a policy from a ModSecurity set-up, with the fate of every directive. */

import { commandLineLimits } from '../../limits/command-limits.ts';
import type { CrsRule, CrsRuleset } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type {
  KnownFaults,
  KnownRule,
  PolicyImport,
  ReportEntry,
} from '../../publish/manifests/policy-import.ts';
import type { ApiClient } from '../api-client.ts';
import {
  switchFlag,
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagValues,
} from '../command.ts';
import { allPages } from '../all-pages.ts';
import { badFlag } from '../input.ts';
import { leaveFlag, requireLeaving, tuningAt } from '../left-behind.ts';
import { showPlan } from '../manifest/manifest-input.ts';

const pageSize = 200;

/** The command. */
export const policyImportCommand: CommandDefinition = {
  path: ['policy', 'import'],
  summary: 'Create a policy from a ModSecurity configuration',
  help: `Reads *.conf and *.load below DIR, follows Include within DIR, and reports for every directive
where it lives in the policy, or why it does not. Nothing is made while a directive is refused,
unless --partial is given. The policy of that name is replaced, rules and overrides included.
Example: waf policy import /etc/modsecurity --name shop --dry-run`,
  arguments: [{ name: '<dir>', summary: 'folder with modsecurity.conf and crs-setup.conf' }],
  flags: [
    { flags: '--name <name>', summary: 'name of the policy', required: true },
    {
      flags: '--ruleset <ruleset>',
      summary: 'rule set; default is the one that crs-setup.conf is for',
      resource: 'ruleset',
    },
    { flags: '--dry-run', summary: 'check everything, print the report, write nothing' },
    leaveFlag,
    { flags: '--partial', summary: 'create the policy without the directives that are refused' },
  ],
  published: true,
  run: async (context, [folder = ''], flags) => {
    const { importPolicy } = await import('../../publish/manifests/policy-import.ts');
    const api = await context.api();
    const name = textFlag(flags, 'name') ?? '';
    const asked = textFlag(flags, 'ruleset') ?? '';
    const rulesets = await listRulesets(api);
    const first = importPolicy(folder, name, { ref: '', version: '', rules: [] });
    const ruleset = chooseRuleset(rulesets, asked, first.setupVersion);
    const rules = ruleset === undefined ? [] : await listRules(api, ruleset.id);
    const { manifestYaml, origins, report, settings } = await judged(api, (faults) =>
      importPolicy(
        folder,
        name,
        { ref: ruleset?.id ?? '', version: ruleset?.version ?? '', rules },
        faults,
      ),
    );
    showReport(context, report, ruleset);
    if (settings.engineState === 'off') {
      context.output.note('SecRuleEngine is Off or missing: the policy inspects nothing.');
    }
    const refused = report.filter(({ fate }) => fate === 'refused').length;
    const dryRun = switchFlag(flags, 'dryRun');
    if (refused > 0 && !dryRun && !switchFlag(flags, 'partial')) {
      context.output.note(
        `Nothing is imported: ${refused} directives are refused. Change them, or add --partial.`,
      );
      return 1;
    }
    if (!dryRun) await requireSitesLeft(context, api, flags, name);
    const timeoutMs = commandLineLimits.applyTimeoutMs;
    const { plan } = await atSourceOf(folder, origins, () =>
      api.system.apply({ manifestYaml, dryRun }, { timeoutMs }),
    );
    if (context.output.format === 'table') await showPlan(context, plan, !dryRun);
    return 0;
  },
};

/** Asks before an import takes away what single sites have at the policy of that name. */
async function requireSitesLeft(
  context: CommandContext,
  api: ApiClient,
  flags: FlagValues,
  name: string,
): Promise<void> {
  const found = await allPages((page) => api.policies.listPolicies({ page, query: name }));
  const present = found.find((policy) => policy.name === name && !policy.isTemplate);
  if (present === undefined) return;
  const lost = await tuningAt(api, present.id, (siteId) => siteId !== '');
  const what = `%s exclusions, overrides and rules of sites at policy ${name} go with the import`;
  await requireLeaving(context, flags, lost, what);
}

/**
 * Imports until the compiler has nothing against the rules that are left, so that the report says
 * once what becomes of each directive. Each round refuses a directive more, or is the last.
 */
async function judged(
  api: ApiClient,
  importWithout: (faults: KnownFaults) => PolicyImport,
): Promise<PolicyImport> {
  const { faultOf } = await import('../../publish/manifests/policy-import.ts');
  const faults = new Map<string, ReturnType<typeof faultOf>>();
  for (;;) {
    const imported = importWithout(faults);
    const { customRules, probes, probeYaml, origins } = imported;
    if (customRules.length + probes.length === 0) return imported;
    const timeoutMs = commandLineLimits.applyTimeoutMs;
    const asked = { manifestYaml: probeYaml, collectRuleFindings: true };
    const { ruleFindings } = await api.system.previewApply(asked, { timeoutMs });
    const before = faults.size;
    for (const { ruleId, line, column, message } of ruleFindings) {
      const origin = origins.get(String(ruleId));
      if (origin === undefined || faults.has(origin.directive)) continue;
      faults.set(origin.directive, faultOf(origin, line, column, message));
    }
    if (faults.size === before) return imported;
  }
}

/** Names the set-up's files in what the API refuses. */
async function atSourceOf<T>(
  folder: string,
  origins: PolicyImport['origins'],
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const { ConnectError } = await import('@connectrpc/connect');
    if (!(error instanceof ConnectError)) throw error;
    const { atSource } = await import('../../publish/manifests/policy-import.ts');
    throw new ConnectError(atSource(error.rawMessage, folder, origins), error.code);
  }
}

function showReport(
  { output }: CommandContext,
  report: readonly ReportEntry[],
  ruleset: CrsRuleset | undefined,
): void {
  output.result(
    { ruleset: ruleset?.id ?? '', directives: report },
    {
      columns: ['PLACE', 'DIRECTIVE', 'FATE', 'WHERE OR WHY'],
      rows: folded(report).map(({ file, line, column, directive, fate, note }) => [
        `${file}:${line}`,
        directive,
        fate,
        fate === 'refused' ? `${note} (${file}:${line}:${column})` : note,
      ]),
    },
  );
  const count = (fate: ReportEntry['fate']): number =>
    report.filter((entry) => entry.fate === fate).length;
  const counts = (['honored', 'ignored', 'refused'] as const).map(
    (fate) => `${count(fate)} ${fate}`,
  );
  output.note(
    `${report.length} directives for ${ruleset?.version ?? 'no rule set'}: ${counts.join(', ')}`,
  );
}

/** A file of the rule set is a line or two, not hundreds of equal ones. */
function folded(report: readonly ReportEntry[]): ReportEntry[] {
  const rows: { entry: ReportEntry; times: number }[] = [];
  for (const entry of report) {
    const last = rows.at(-1);
    const same = last?.entry.file === entry.file && last.entry.note === entry.note;
    if (last !== undefined && same && entry.note === 'the rule set of the policy') last.times += 1;
    else rows.push({ entry, times: 1 });
  }
  return rows.map(({ entry, times }) =>
    times === 1 ? entry : { ...entry, directive: `${times} directives from ${entry.directive}` },
  );
}

async function listRulesets(api: ApiClient): Promise<readonly CrsRuleset[]> {
  return (await api.crs.listCrsRulesets({ page: { page: 1, pageSize } })).items;
}

/** The one that is asked for, else that of the same version, else of the same generation. */
function chooseRuleset(
  rulesets: readonly CrsRuleset[],
  asked: string,
  setupVersion: string,
): CrsRuleset | undefined {
  if (asked !== '') {
    const named = rulesets.find(({ id }) => id === asked);
    if (named !== undefined) return named;
    const known = rulesets.map(({ id }) => id).join(', ');
    throw badFlag(`--ruleset: no rule set ${asked}. Known: ${known}`);
  }
  const fitting = rulesets.find((one) => one.crsSetupVersion === setupVersion);
  const similar = rulesets.find((one) => one.crsSetupVersion[0] === setupVersion[0]);
  const active = rulesets.find(({ status }) => status === 'active');
  return fitting ?? similar ?? active ?? rulesets[0];
}

async function listRules(api: ApiClient, rulesetId: string): Promise<KnownRule[]> {
  const rules: CrsRule[] = [];
  for (let page = 1; page <= commandLineLimits.importRulePagesMax; page++) {
    const { items } = await api.crs.listCrsRules({ rulesetId, page: { page, pageSize } });
    rules.push(...items);
    if (items.length < pageSize) break;
  }
  return rules.map(({ ruleId, targets, tags, msg, rawSha256 }) => ({
    id: ruleId,
    targets,
    tags,
    msg,
    textSha256: rawSha256,
  }));
}
