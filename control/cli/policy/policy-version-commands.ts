/** `waf policy`: versions of a policy, and moving it to another ruleset. */

import { againWhenChanged, isRevisionGiven } from '../change-attempts.ts';
import type { ArgumentDefinition, CommandDefinition } from '../command.ts';
import { leaveFlag } from '../left-behind.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { waitFor } from '../policy-progress.ts';
import { requireOverridesLeft } from './left-overrides.ts';
import { policyTable, revisionFlag, revisionOf, versionTable } from './policy-table.ts';
import { showMessage } from '../show.ts';
import { policyOfVersion, versionIdOf } from './version-names.ts';

const compiling = 'Compiling rules';
const idArgument: readonly ArgumentDefinition[] = [
  { name: '<policy>', summary: 'id or name', resource: 'policy' },
];
const versionArgument = { name: '<version>', summary: 'version id, or a revision such as 3' };
const rulesetArgument: ArgumentDefinition = {
  name: '<ruleset>',
  summary: 'id, or name such as crs-4.28.0',
  resource: 'ruleset',
};

/** Commands on versions and rulesets of a policy. */
export const policyVersionCommands: readonly CommandDefinition[] = [
  {
    path: ['policy', 'versions'],
    summary: 'List the saved versions of a policy, newest first',
    help: '',
    arguments: idArgument,
    flags: pageFlags,
    run: async (context, [policyId = ''], flags) => {
      const { policies } = await context.api();
      const response = await policies.listPolicyVersions({ policyId, page: readPage(flags) });
      const table = versionTable(response.items);
      await showMessage(context, response, table);
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
  {
    path: ['policy', 'version'],
    summary: 'Show one saved version',
    help: 'A revision is given with its policy, as standard:3. Its settings: waf policy version ID --output json',
    arguments: [versionArgument],
    flags: [],
    run: async (context, [text = '']) => {
      const api = await context.api();
      const id = await versionIdOf(api, text, '');
      const response = await api.policies.getPolicyVersion({ id });
      const found = response.version === undefined ? [] : [response.version];
      await showMessage(context, response, versionTable(found));
      return 0;
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
    flags: [],
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
      const restored = response.policy === undefined ? [] : [response.policy];
      await showMessage(context, response, policyTable(restored));
      return 0;
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
      const moved = response.policy === undefined ? [] : [response.policy];
      await showMessage(context, response, policyTable(moved));
      return 0;
    },
  },
  {
    path: ['policy', 'impact'],
    summary: 'Show what a move to another ruleset changes',
    help: '',
    arguments: [...idArgument, rulesetArgument],
    flags: [],
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
