/** `waf export`: what is there, as a manifest that `waf apply` reads back. */

import { toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { CustomRuleSchema } from '../../proto/gen/waf/v1/custom_rule_pb.ts';
import { IpListEntrySchema, IpListSchema } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import { PolicySchema, type PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import { RuleOverrideSchema } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import {
  SitePolicyOverrideSchema,
  SiteRoutingSchema,
  SiteSchema,
  type Site,
} from '../../proto/gen/waf/v1/site_pb.ts';
import { UpstreamSchema } from '../../proto/gen/waf/v1/upstream_pb.ts';
import type { ExportedState } from '../publish/manifest-export.ts';
import { allPages } from './all-pages.ts';
import type { ApiClient } from './api-client.ts';
import { textFlag, type CommandContext, type CommandDefinition } from './command.ts';

/** The command. */
export const exportCommand: CommandDefinition = {
  path: ['export'],
  summary: 'Write the resources as a manifest that apply reads back',
  help: `Pools, IP lists, policies with their overrides and custom rules, and sites with routing and
overrides. Templates, certificates, rulesets and lists that a source fills are not part of it.
Example: waf export -o waf.yaml`,
  arguments: [],
  flags: [{ flags: '-o, --out <file>', summary: 'file to write; default is standard output' }],
  run: async (context, _args, flags) => {
    const { exportDocuments, toManifestText } = await import('../publish/manifest-export.ts');
    const documents = exportDocuments(await readState(context, await context.api()));
    const out = textFlag(flags, 'out');
    if (out !== undefined) {
      const { writeFileSync } = await import('node:fs');
      writeFileSync(out, toManifestText(documents), { mode: 0o600 });
      context.output.note(`${documents.length} documents written to ${out}`);
    } else if (context.output.format === 'json') {
      context.output.result(documents, { columns: [], rows: [] });
    } else context.output.line(toManifestText(documents).trimEnd());
    return 0;
  },
};

async function readState(context: CommandContext, api: ApiClient): Promise<ExportedState> {
  const pools = await allPages((page) => api.upstreams.listUpstreams({ page }));
  const sites = await allPages((page) => api.sites.listSites({ page }));
  const policies = await allPages((page) => api.policies.listPolicies({ page }));
  const certificates = await allPages((page) => api.certs.listCerts({ page }));
  const rulesets = await allPages((page) => api.system.listSystemCrsRulesets({ page }));
  const own = policies.filter(({ isTemplate }) => !isTemplate);
  return {
    upstreams: pools.map((one) => toJson(UpstreamSchema, one)),
    ipLists: await readLists(context, api),
    policies: await inTurn(own, (policy) => readPolicy(api, toJson(PolicySchema, policy))),
    sites: await inTurn(sites, (site) => readSite(api, site)),
    certificates,
    rulesets,
  };
}

async function readPolicy(
  api: ApiClient,
  policy: PolicyJson,
): Promise<ExportedState['policies'][number]> {
  const policyId = policy.id ?? '';
  const overrides = await allPages((page) =>
    api.ruleOverrides.listRuleOverrides({ policyId, page }),
  );
  const rules = await allPages((page) => api.customRules.listCustomRules({ policyId, page }));
  return {
    policy,
    overrides: overrides.map((one) => toJson(RuleOverrideSchema, one)),
    rules: rules.map((one) => toJson(CustomRuleSchema, one)),
  };
}

async function readSite(api: ApiClient, site: Site): Promise<ExportedState['sites'][number]> {
  const { routing } = await api.sites.getSiteRouting({ siteId: site.id });
  const override = await found(api.sites.getSitePolicyOverride({ siteId: site.id }));
  return {
    site: toJson(SiteSchema, site),
    routing: routing === undefined ? undefined : toJson(SiteRoutingSchema, routing),
    policyOverride:
      override?.override === undefined
        ? undefined
        : toJson(SitePolicyOverrideSchema, override.override),
  };
}

async function readLists(
  { output }: CommandContext,
  api: ApiClient,
): Promise<ExportedState['ipLists']> {
  const lists = await allPages((page) => api.ipLists.listIpLists({ page }));
  const fed = lists.filter(({ managementMode }) => managementMode === 'subscription');
  for (const { name } of fed) output.note(`left out: the IP list ${name} is filled by its source`);
  const now = new Date().toISOString();
  return inTurn(
    lists.filter((list) => !fed.includes(list)),
    async (list) => {
      const entries = await allPages((page) =>
        api.ipLists.listIpListEntries({ ipListId: list.id, page }),
      );
      return {
        list: toJson(IpListSchema, list),
        entries: entries
          .map((one) => toJson(IpListEntrySchema, one))
          .filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now),
      };
    },
  );
}

async function inTurn<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const item of items) done.push(await read(item));
  return done;
}

/** The answer; undefined when there is no such resource. */
async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}
