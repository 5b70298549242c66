/** `waf diff`: what applying a manifest would change. Exit code 0 for nothing, 2 for something. */

import { commandLineLimits } from '../../limits/command-limits.ts';
import type { CommandDefinition } from '../command.ts';
import { manifestFlag, readManifests, showPlan } from './manifest-input.ts';

const differs = 2;

/** The command. */
export const diffCommand: CommandDefinition = {
  path: ['diff'],
  summary: 'Show what a manifest would change',
  help: `Exit codes: 0 when nothing differs, 1 for an error, 2 when something differs. The plan has an
identifier: waf apply --plan carries out that plan or nothing. With --output json the plan holds
every field before and after.
Example: waf diff -f shop.yaml`,
  flags: [manifestFlag],
  run: async (context, _args, flags) => {
    const manifestYaml = readManifests(flags);
    const { system } = await context.api();
    const timeoutMs = commandLineLimits.applyTimeoutMs;
    const { plan } = await system.previewApply({ manifestYaml }, { timeoutMs });
    const changed = await showPlan(context, plan, false);
    return changed === 0 ? 0 : differs;
  },
};
