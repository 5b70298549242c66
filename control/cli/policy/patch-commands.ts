/** `waf patch`: virtual patches, kept as custom rules of a policy. */

import { toAppError } from '../../../base/errors.ts';
import { readYaml } from '../../documents/yaml-text.ts';
import type { CustomRule } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';
import type { CommandContext, CommandDefinition } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { badFlag, readInputText } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { withNames } from '../shown-names.ts';
import { readMessage } from '../show.ts';

const policyArgument = nameArgument('policy');

/** A patch of a file: what the rule around it says, and the patch itself. */
interface PatchDocument {
  /** For messages: file and document. */
  readonly where: string;
  readonly id: string;
  readonly title: string;
  readonly visualSpec: Record<string, unknown>;
}

/** Commands on virtual patches. */
export const patchCommands: readonly CommandDefinition[] = [
  {
    path: ['patch', 'apply'],
    summary: 'Add or replace virtual patches of a policy',
    help:
      'Each document is one patch. Its requests are tried first: a patch that does not stop its\n' +
      'attacks, or stops a request that is to pass, is refused; those before it stay, and\n' +
      'both are named. Apply the file again once it is mended; with --all-or-none those\n' +
      'before it are taken back, the last first: the policy has the patches it had.\n' +
      '  id: CVE-2021-44228\n' +
      '  title: JNDI lookups in Log4j 2\n' +
      '  references: [https://logging.apache.org/log4j/2.x/security.html]\n' +
      '  severity: critical            # critical, error, warning or notice\n' +
      '  expires: 2027-06-30           # without: until it is removed\n' +
      '  action: block                 # block or log\n' +
      '  conditions:                   # all must hold\n' +
      '    - in: [headers, arguments]\n' +
      "      matches: '\\$\\{jndi:'\n" +
      '      ignoreCase: true\n' +
      '  requests:\n' +
      "    - { url: '/', headers: { X-Api: '${jndi:ldap://x/a}' }, expect: match }\n" +
      "    - { url: '/', headers: { X-Api: v1 }, expect: pass }\n" +
      'Places: method path uri query arguments argument-names headers cookies files\n' +
      'body message. Operators: contains is begins ends matches. Further fields: name\n' +
      '(of one argument, field or cookie), not, transformations.',
    arguments: [policyArgument, { name: '<file>', summary: 'YAML; - reads standard input' }],
    flags: [
      { flags: '--site <site>', summary: 'only for this site', resource: 'site' },
      { flags: '--off', summary: 'save them disabled' },
      { flags: '--all-or-none', summary: 'where one is refused, take back those before it' },
    ],
    published: true,
    run: async (context, [policyId = '', file = ''], flags) => {
      const { CustomRuleSchema } = await import('../../../proto/gen/waf/v1/custom_rule_pb.ts');
      const documents = readPatches(file);
      const { customRules } = await context.api();
      const kept = await patchesOf(customRules, policyId);
      const siteId = textFlag(flags, 'site') ?? '';
      const enabled = !switchFlag(flags, 'off');
      const rules: CustomRule[] = [];
      for (const { where, id, title, visualSpec } of documents) {
        const before = kept.find((rule) => patchOf(rule)['id'] === id && rule.siteId === siteId);
        const value = { name: title, enabled, visualSpec, policyId, siteId, id: before?.id ?? '' };
        rules.push(await readMessage(CustomRuleSchema, value, where));
      }
      const changed: CustomRule[] = [];
      for (const rule of rules) {
        try {
          changed.push(await keepRule(customRules, rule));
        } catch (error) {
          noteHalfApplied(context, documents, changed.length);
          if (switchFlag(flags, 'allOrNone')) await takeBack(context, kept, changed);
          throw error;
        }
      }
      await showPatches(context, changed);
      return 0;
    },
  },
  {
    path: ['patch', 'list'],
    summary: 'List the virtual patches of a policy',
    arguments: [policyArgument],
    run: async (context, [policyId = '']) => {
      const { customRules } = await context.api();
      await showPatches(context, await patchesOf(customRules, policyId));
      return 0;
    },
  },
  {
    path: ['patch', 'remove'],
    summary: 'Remove a virtual patch from a policy, for all sites',
    help: 'Example: waf patch remove shop CVE-2021-44228',
    arguments: [policyArgument, { name: '<id>', summary: 'id of the patch, such as a CVE' }],
    published: true,
    run: async (context, [policyId = '', id = '']) => {
      const { customRules } = await context.api();
      const kept = await patchesOf(customRules, policyId);
      const found = kept.filter((rule) => patchOf(rule)['id'] === id);
      if (found.length === 0) {
        throw badFlag(`the policy has no virtual patch ${JSON.stringify(id)}; see waf patch list`);
      }
      const removed: CustomRule[] = [];
      try {
        for (const rule of found) {
          await customRules.deleteCustomRule({ id: rule.id });
          removed.push(rule);
        }
      } finally {
        // Each is of one site or of all, and stops nothing from now on.
        if (removed.length > 0) await showPatches(context, removed, { id, removed: true });
      }
      return 0;
    },
  },
];

function readPatches(file: string): PatchDocument[] {
  const source = file === '-' ? 'standard input' : file;
  const documents = readYaml(readInputText(file), source);
  if (documents.length === 0) throw badFlag(`${source}: holds no patch`);
  const patches = documents.map(({ value, number }) => {
    const where = documents.length === 1 ? source : `${source}, document ${number}`;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw badFlag(`${where}: must be a mapping`);
    }
    return splitDocument(value as Record<string, unknown>, where);
  });
  const twice = patches.find(({ id }, at) => patches.findIndex((one) => one.id === id) !== at);
  if (twice !== undefined) throw badFlag(`${twice.where}: the id ${twice.id} comes twice`);
  return patches;
}

/** What the document says of the rule (title, action, status), apart from the patch. */
function splitDocument(document: Record<string, unknown>, where: string): PatchDocument {
  const { title, action, status, ...patch } = document;
  const { id } = patch;
  if (typeof id !== 'string') throw badFlag(`${where}: id must be text such as CVE-2021-44228`);
  if (typeof title !== 'string') throw badFlag(`${where}: title must be text`);
  const visualSpec = {
    ...(action !== undefined && { action }),
    ...(status !== undefined && { status }),
    patch,
  };
  return { where, id, title, visualSpec };
}

/** `done`: how many of the documents are applied; the next one was refused. */
function noteHalfApplied(
  { output }: CommandContext,
  documents: readonly PatchDocument[],
  done: number,
): void {
  const named = (some: readonly PatchDocument[]): string => {
    const ids = some.slice(0, namedMax).map(({ id }) => id);
    if (some.length > namedMax) ids.push(`${some.length - namedMax} more`);
    return ids.length === 0 ? 'none' : ids.join(', ');
  };
  const { where, id } = documents[done]!;
  output.note(`Refused: ${id} (${where}).`);
  output.note(`Applied before it: ${named(documents.slice(0, done))}.`);
  output.note(`Not tried after it: ${named(documents.slice(done + 1))}.`);
}

/** Patches whose ids are printed. */
const namedMax = 10;

async function keepRule(
  customRules: ApiClient['customRules'],
  rule: CustomRule,
): Promise<CustomRule> {
  const { rule: after } =
    rule.id === ''
      ? await customRules.createCustomRule({ rule })
      : await customRules.updateCustomRule({ rule, updateMask: 'name,enabled,visualSpec' });
  return after!;
}

/**
 * Removes those of the patches that were not there `before`, and gives the others what they said.
 * Says which cannot be taken back; they stay.
 */
async function takeBack(
  context: CommandContext,
  before: readonly CustomRule[],
  changed: readonly CustomRule[],
): Promise<void> {
  const { customRules } = await context.api();
  const id = (rule: CustomRule): string => String(patchOf(rule)['id']);
  for (const rule of changed.toReversed()) {
    const earlier = before.find((one) => one.id === rule.id);
    try {
      if (earlier === undefined) await customRules.deleteCustomRule({ id: rule.id });
      else await keepRule(customRules, earlier);
    } catch (error) {
      const { message } = toAppError(error);
      context.output.note(`Not taken back: ${id(rule)} (rule ${rule.ruleId}): ${message}`);
      return;
    }
  }
  context.output.note(`Taken back: ${changed.length}.`);
}

async function patchesOf(
  customRules: ApiClient['customRules'],
  policyId: string,
): Promise<CustomRule[]> {
  const rules = await allPages((page) => customRules.listCustomRules({ policyId, page }));
  return rules.filter((rule) => rule.visualSpec?.['patch'] !== undefined);
}

function patchOf(rule: CustomRule): Readonly<Record<string, unknown>> {
  return (rule.visualSpec?.['patch'] ?? {}) as Readonly<Record<string, unknown>>;
}

async function showPatches(
  context: CommandContext,
  rules: readonly CustomRule[],
  gone?: { readonly id: string; readonly removed: true },
): Promise<void> {
  const { toJson } = await import('@bufbuild/protobuf');
  const { CustomRuleSchema } = await import('../../../proto/gen/waf/v1/custom_rule_pb.ts');
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const table: Table = {
    columns: ['ID', 'RULE', 'TITLE', 'EXPIRES', 'SITE', 'STATE'],
    ids: { SITE: ['site'] },
    rows: rules.map((rule) => {
      const { id, expires } = patchOf(rule);
      return [
        text(id),
        String(rule.ruleId),
        rule.name,
        text(expires),
        rule.siteId,
        gone === undefined ? stateOf(rule, text(expires)) : 'removed',
      ];
    }),
  };
  context.output.result(
    { ...gone, patches: rules.map((rule) => toJson(CustomRuleSchema, rule)) },
    await withNames(context, table),
  );
}

function stateOf({ enabled }: CustomRule, expires: string): string {
  if (enabled !== true) return 'off';
  return expires !== '' && Date.parse(expires) <= Date.now() ? 'expired' : 'on';
}
