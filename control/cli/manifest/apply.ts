/** `waf apply`: makes the deployment what a manifest says. */

import { commandLineLimits } from '../../limits/command-limits.ts';
import { switchFlag, textFlag, type CommandDefinition } from '../command.ts';
import { manifestFlag, readManifests, showPlan } from './manifest-input.ts';

/** The command. */
export const applyCommand: CommandDefinition = {
  path: ['apply'],
  summary: 'Apply a manifest: create and change the resources that it names',
  help: `All documents are applied in one transaction, or none. Kinds: Upstream, IpList, Policy,
Site, CountryRule, Deployment. A field that a document leaves out gets its standard value; resources
that no document names stay.
Example: waf apply -f shop.yaml --dry-run`,
  flags: [
    manifestFlag,
    { flags: '--dry-run', summary: 'check everything, show what would change, write nothing' },
    {
      flags: '--plan <sha256>',
      summary: 'only this plan, as waf diff names it; exit code 1 where it is another one by now',
    },
  ],
  published: true,
  run: async (context, _args, flags) => {
    const manifestYaml = readManifests(flags);
    const dryRun = switchFlag(flags, 'dryRun');
    const { system } = await context.api();
    const timeoutMs = commandLineLimits.applyTimeoutMs;
    const expectedPlanId = textFlag(flags, 'plan') ?? '';
    const request = { manifestYaml, dryRun, expectedPlanId };
    const { plan } = await system.apply(request, { timeoutMs });
    await showPlan(context, plan, !dryRun);
    return 0;
  },
};
