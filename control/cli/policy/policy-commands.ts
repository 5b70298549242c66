/** `waf policy`: making, changing and removing policies. */

import { decisionFlags, readDecision } from './decision-flags.ts';
import { againWhenChanged, givenRevision, isRevisionGiven } from '../change-attempts.ts';
import type { CommandDefinition } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { leaveFlag, requireLeaving, tuningAt } from '../left-behind.ts';
import { badFlag, readInputObject } from '../input.ts';
import { leafPaths } from '../leaf-paths.ts';
import { nameArgument } from '../named-resource.ts';
import { waitFor } from '../policy-progress.ts';
import {
  blockingModeNames,
  engineStateNames,
  policyTable,
  revisionFlag,
  revisionOf,
} from './policy-table.ts';
import { listCommand } from '../regular-commands.ts';
import { only, readMessage, showMessage, showRemoved, showResource } from '../show.ts';

const compiling = 'Compiling rules';
const idArgument = [nameArgument('policy')];
const layerKinds = ['crs-core', 'http-policy', 'arg-limits', 'plugins', 'ip-list-bindings'];
const fileFlag = {
  flags: '--file <file>',
  summary: 'fields as JSON or YAML, named as in the API; - reads standard input',
};

/** Commands on policies themselves. */
export const policyCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['policy', 'list'],
    summary: 'List policies',
    query: 'part of a name',
    call: ({ policies }, { page, query }) => policies.listPolicies({ page, query }),
    table: policyTable,
  }),
  {
    path: ['policy', 'get'],
    summary: 'Show all settings of one policy',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const response = await (await context.api()).policies.getPolicy({ id });
      await showResource(context, response, 'policy');
      if (response.bodyInspection) context.output.note(response.bodyInspection.summary);
      return 0;
    },
  },
  listCommand({
    path: ['policy', 'templates'],
    summary: 'List the templates from which policies are made',
    call: ({ policies }, { page }) => policies.listPolicyTemplates({ page }),
    table: policyTable,
  }),
  {
    path: ['policy', 'create'],
    summary: 'Create a policy, from a template or from a file',
    help:
      'Examples: waf policy create --name shop --template template-standard\n' +
      '          waf policy create --name shop --file - < policy.yaml',
    flags: [
      { flags: '--name <name>', summary: 'name for people', required: true },
      { flags: '--description <text>', summary: 'text for people' },
      {
        flags: '--template <template>',
        summary: 'copy the settings of this template',
        resource: 'template',
      },
      {
        flags: '--ruleset <ruleset>',
        summary: 'id or name; default is the active one',
        resource: 'ruleset',
      },
      fileFlag,
    ],
    run: async (context, _args, flags) => {
      const { CreatePolicyResponseSchema, PolicySchema } =
        await import('../../../proto/gen/waf/v1/policy_pb.ts');
      const [template, file] = [textFlag(flags, 'template'), textFlag(flags, 'file')];
      const ruleset = textFlag(flags, 'ruleset');
      if (template !== undefined && (file ?? ruleset) !== undefined) {
        throw badFlag('--template goes with neither --file nor --ruleset');
      }
      const name = textFlag(flags, 'name') ?? '';
      const description = textFlag(flags, 'description') ?? '';
      const { policies } = await context.api();
      const value = {
        ...(file === undefined ? {} : readInputObject(file)),
        name,
        ...(description === '' ? {} : { description }),
        ...(ruleset === undefined ? {} : { crsRulesetId: ruleset }),
      };
      const policy = await readMessage(PolicySchema, value, '--file');
      const from = { templateId: template ?? '', name, description };
      const { policy: made } =
        template === undefined
          ? await waitFor(context, compiling, (options) =>
              policies.createPolicy({ policy }, options),
            )
          : await waitFor(context, compiling, (options) =>
              policies.createPolicyFromTemplate(from, options),
            );
      const table = policyTable(made === undefined ? [] : [made]);
      const { create } = await import('@bufbuild/protobuf');
      const shown = create(CreatePolicyResponseSchema, made === undefined ? {} : { policy: made });
      return showMessage(context, shown, table);
    },
  },
  {
    path: ['policy', 'update'],
    summary: 'Change a policy; unspecified options are unchanged',
    help:
      'Inspection settings (crsCore, httpPolicy, argLimits) are saved apart from all else.\n' +
      'A field of the file that is null returns to its standard value. A list is replaced whole.\n' +
      'Example: echo "crsCore: {blockingParanoiaLevel: 2, detectionParanoiaLevel: 2}" | ' +
      'waf policy update ID --file -',
    arguments: idArgument,
    flags: [
      { flags: '--name <name>', summary: 'name for people' },
      { flags: '--description <text>', summary: 'text for people' },
      {
        flags: '--status <status>',
        summary: 'state of the policy',
        choices: ['draft', 'active', 'archived'],
      },
      {
        flags: '--blocking <mode>',
        summary: 'when a match blocks',
        choices: Object.keys(blockingModeNames),
      },
      ...decisionFlags,
      fileFlag,
      {
        flags: '--mask <path>',
        summary: 'field of the file to change; repeatable; default is every value in it',
        repeatable: true,
      },
      revisionFlag,
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { PolicySchema } = await import('../../../proto/gen/waf/v1/policy_pb.ts');
      const file = textFlag(flags, 'file');
      const given = file === undefined ? {} : readInputObject(file);
      const own: Record<string, unknown> = {};
      for (const field of ['name', 'description', 'status']) {
        const text = textFlag(flags, field);
        if (text !== undefined) own[field] = text;
      }
      const blocking = textFlag(flags, 'blocking');
      if (blocking !== undefined) own['blockingMode'] = blockingModeNames[blocking];
      const decided = readDecision(flags);
      const masked = listFlag(flags, 'mask');
      const mask = [
        ...(masked.length > 0 ? masked : leafPaths(given)),
        ...Object.keys(own),
        ...Object.keys(decided).map((field) => `crsCore.${field}`),
      ];
      if (mask.length === 0) throw badFlag('name at least one flag that changes something');
      const fields: Record<string, unknown> = { ...given, ...own, id };
      if (Object.keys(decided).length > 0) {
        fields['crsCore'] = { ...(given['crsCore'] as object | undefined), ...decided };
      }
      const policy = await readMessage(PolicySchema, fields, '--file');
      const api = await context.api();
      const updateMask = [...new Set(mask)].join(',');
      const response = await againWhenChanged(async () => {
        const revision = await revisionOf(api, id, flags);
        return waitFor(context, compiling, (options) =>
          api.policies.updatePolicy({ policy, revision, updateMask }, options),
        );
      }, isRevisionGiven(flags));
      return showMessage(context, response, policyTable(only(response.policy)));
    },
  },
  {
    path: ['policy', 'set-layer'],
    summary: 'Replace one complete layer of a policy',
    help: 'Example: waf policy set-layer ID arg-limits --file limits.yaml',
    arguments: [...idArgument, { name: '<layer>', summary: 'layer', choices: layerKinds }],
    flags: [{ ...fileFlag, required: true }, revisionFlag],
    published: true,
    run: async (context, [policyId = '', layer = ''], flags) => {
      const { PolicyLayerKind } = await import('../../../proto/gen/waf/v1/policy_pb.ts');
      const name = layer.replaceAll('-', '_').toUpperCase() as keyof typeof PolicyLayerKind;
      if (!layerKinds.includes(layer)) {
        throw badFlag(`the layer must be one of ${layerKinds.join(', ')}`);
      }
      const config = readInputObject(textFlag(flags, 'file') ?? '');
      const api = await context.api();
      const [policy, response] = await againWhenChanged(async () => {
        const { policy: before } = await api.policies.getPolicy({ id: policyId });
        const revision = givenRevision(flags) ?? before?.revision ?? 0n;
        const kind = PolicyLayerKind[name];
        const request = { policyId, revision, layer: kind, config: config as never };
        const answer = await waitFor(context, compiling, (options) =>
          api.policies.updatePolicyLayer(request, options),
        );
        return [before, answer] as const;
      }, isRevisionGiven(flags));
      const { noteLayer } = await import('./policy-layer.ts');
      noteLayer(context.output, layer, policy, config);
      return showMessage(context, response, policyTable(only(response.policy)));
    },
  },
  {
    path: ['policy', 'engine'],
    summary: 'Switch inspection of a policy',
    help: 'Example: waf policy engine ID detection-only',
    arguments: [
      ...idArgument,
      { name: '<state>', summary: 'state', choices: Object.keys(engineStateNames) },
    ],
    flags: [revisionFlag],
    published: true,
    run: async (context, [policyId = '', state = ''], flags) => {
      const { EngineState } = await import('../../../proto/gen/waf/v1/policy_pb.ts');
      const name = (engineStateNames[state] ?? '').replace('ENGINE_STATE_', '');
      if (name === '') {
        throw badFlag(`the state must be one of ${Object.keys(engineStateNames).join(', ')}`);
      }
      const engineState = EngineState[name as keyof typeof EngineState];
      const api = await context.api();
      const response = await againWhenChanged(async () => {
        const revision = await revisionOf(api, policyId, flags);
        return api.policies.setEngineState({ policyId, revision, engineState });
      }, isRevisionGiven(flags));
      return showMessage(context, response, policyTable(only(response.policy)));
    },
  },
  {
    path: ['policy', 'delete'],
    summary: 'Remove a policy that no site uses',
    arguments: idArgument,
    flags: [leaveFlag],
    run: async (context, [id = ''], flags) => {
      const api = await context.api();
      const what = '%s exclusions, overrides and rules go with the policy';
      await requireLeaving(context, flags, await tuningAt(api, id), what);
      await api.policies.deletePolicy({ id });
      return showRemoved(context, 'policy', id);
    },
  },
];
