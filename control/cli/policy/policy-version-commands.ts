/** `waf policy`: versions of a policy, and moving it to another ruleset. */

import { againWhenChanged, isRevisionGiven } from '../change-attempts.ts';
import type { CommandDefinition } from '../command.ts';
import { leaveFlag } from '../left-behind.ts';
import { nameArgument } from '../named-resource.ts';
import { waitFor } from '../policy-progress.ts';
import { requireOverridesLeft } from './left-overrides.ts';
import { policyTable, revisionFlag, revisionOf, versionTable } from './policy-table.ts';
import { listCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';
import { policyOfVersion, versionIdOf } from './version-names.ts';

const compiling = 'Compiling rules';
const idArgument = [nameArgument('policy')];
const versionArgument = { name: '<version>', summary: 'version id, or a revision such as 3' };
const rulesetArgument = nameArgument('ruleset', 'id, or name such as crs-4.28.0');

/** Commands on versions and rulesets of a policy. */
export const policyVersionCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['policy', 'versions'],
    summary: 'List the saved versions of a policy, newest first',
    arguments: idArgument,
    call: ({ policies }, { page }, [policyId = '']) =>
      policies.listPolicyVersions({ policyId, page }),
    table: versionTable,
  }),
  {
    path: ['policy', 'version'],
    summary: 'Show one saved version',
    help: 'A revision is given with its policy, as standard:3. Its settings: waf policy version ID --output json',
    arguments: [versionArgument],
    run: async (context, [text = '']) => {
      const api = await context.api();
      const id = await versionIdOf(api, text, '');
      const response = await api.policies.getPolicyVersion({ id });
      return showMessage(context, response, versionTable(only(response.version)));
    },
  },
  {
    path: ['policy', 'diff'],
    summary: 'Compare two saved versions; exit code 2 when they differ',
    help: 'By revision: waf policy diff standard:1 3',
    arguments: [
      { name: '<left>', summary: 'version id, or POLICY:REVISION' },
      { name: '<right>', summary: 'the same; a revision alone is of the same policy' },
    ],
    run: async (context, [left = '', right = '']) => {
      const api = await context.api();
      const policy = policyOfVersion(left) || policyOfVersion(right);
      const leftVersionId = await versionIdOf(api, left, policy);
      const rightVersionId = await versionIdOf(api, right, policy);
      const response = await api.policies.diffPolicyVersions({ leftVersionId, rightVersionId });
      const { before = {}, after = {}, changedPaths = [] } = response.diff ?? {};
      await showMessage(context, response, {
        columns: ['FIELD', 'BEFORE', 'AFTER'],
        rows: changedPaths.map((path) => [path, textAt(before, path), textAt(after, path)]),
      });
      return changedPaths.length === 0 ? 0 : 2;
    },
  },
  {
    path: ['policy', 'rollback'],
    summary: 'Restore a saved version as a new revision',
    help: 'Overrides, custom rules, sites and logs stay as they are.',
    arguments: [...idArgument, versionArgument],
    flags: [leaveFlag],
    published: true,
    run: async (context, [policyId = '', version = ''], flags) => {
      const api = await context.api();
      const versionId = await versionIdOf(api, version, policyId);
      const saved = await api.policies.getPolicyVersion({ id: versionId });
      const { crsRulesetId } = (saved.version?.snapshot ?? {}) as { crsRulesetId?: string };
      await requireOverridesLeft(context, flags, policyId, crsRulesetId ?? '');
      const response = await waitFor(context, compiling, (options) =>
        api.policies.rollbackPolicy({ policyId, versionId }, options),
      );
      return showMessage(context, response, policyTable(only(response.policy)));
    },
  },
  {
    path: ['policy', 'ruleset'],
    summary: 'Move a policy to another ruleset',
    help: 'What it would change: waf policy impact POLICY RULESET',
    arguments: [...idArgument, rulesetArgument],
    flags: [leaveFlag, revisionFlag],
    published: true,
    run: async (context, [policyId = '', crsRulesetId = ''], flags) => {
      const api = await context.api();
      await requireOverridesLeft(context, flags, policyId, crsRulesetId);
      const response = await againWhenChanged(async () => {
        const revision = await revisionOf(api, policyId, flags);
        return waitFor(context, compiling, (options) =>
          api.policies.setActiveCrsRuleset({ policyId, revision, crsRulesetId }, options),
        );
      }, isRevisionGiven(flags));
      return showMessage(context, response, policyTable(only(response.policy)));
    },
  },
  {
    path: ['policy', 'impact'],
    summary: 'Show what a move to another ruleset changes',
    arguments: [...idArgument, rulesetArgument],
    run: async (context, [policyId = '', crsRulesetId = '']) => {
      const { policies } = await context.api();
      const response = await policies.previewCrsImpact({ policyId, crsRulesetId });
      const added = response.addedRuleIds.map((id) => [String(id), 'added', '']);
      const removed = response.removedRuleIds.map((id) => [String(id), 'removed', '']);
      const changed = response.changedRules.map(({ ruleId, changes }) => [
        String(ruleId),
        'changed',
        changes.map(({ field }) => field).join(' '),
      ]);
      const orphaned = response.orphanedOverrides.map(({ crsRuleId, summary }) => [
        crsRuleId,
        'override without rule',
        summary,
      ]);
      await showMessage(context, response, {
        columns: ['RULE', 'WHAT', 'FIELDS'],
        rows: [...orphaned, ...added, ...removed, ...changed],
      });
      const { enabledRuleCount, disabledRuleCount } = response;
      context.output.line(
        `${added.length} added, ${removed.length} removed, ${changed.length} changed, ` +
          `${orphaned.length} overrides without a rule; ` +
          `${enabledRuleCount} rules on, ${disabledRuleCount} off`,
      );
      return 0;
    },
  },
];

/** The value at a path of names joined by dots, as JSON; '' when there is none. */
function textAt(state: object, path: string): string {
  let value: unknown = state;
  for (const name of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }
  return value === undefined ? '' : JSON.stringify(value);
}
