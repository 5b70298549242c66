/**
 * Turns the names that people give resources into ids, for every argument and flag that says what
 * it names: an id stays, a name becomes its id, and anything else is refused by its name.
 */

import { AppError } from '../../base/errors.ts';
import { allPages } from './all-pages.ts';
import type { ApiClient } from './api-client.ts';
import type { ArgumentDefinition, FlagDefinition, FlagValues } from './command.ts';
import type { NamedResource } from './named-resource.ts';

interface Named {
  readonly id: string;
  readonly name: string;
  /** Further names. */
  readonly also?: readonly string[];
}

/** A kind of resource that people name. */
interface NamedKind {
  /** In a sentence. */
  readonly what: string;
  /** The command that lists them. */
  readonly list: string;
  /** Those whose name or host has `query`, all where lists are not searched. */
  readonly found: (api: ApiClient, query: string) => Promise<readonly Named[]>;
}

const kinds: Readonly<Record<NamedResource, NamedKind>> = {
  site: {
    what: 'site',
    list: 'waf site list',
    found: ({ sites }, query) => allPages((page) => sites.listSites({ query, page })),
  },
  policy: {
    what: 'policy',
    list: 'waf policy list',
    found: async ({ policies }, query) => {
      // Templates have the names of the policies that were made from them: they go by their id.
      const all = await allPages((page) => policies.listPolicies({ query, page }));
      return all.map(({ id, name, isTemplate }) => ({
        id,
        name: isTemplate ? id : name.replace(/ \(built in\)$/, ''),
      }));
    },
  },
  template: {
    what: 'template',
    list: 'waf policy templates',
    found: ({ policies }) => allPages((page) => policies.listPolicyTemplates({ page })),
  },
  'ip-list': {
    what: 'IP list',
    list: 'waf ip-list list',
    found: ({ ipLists }, query) => allPages((page) => ipLists.listIpLists({ query, page })),
  },
  upstream: {
    what: 'upstream pool',
    list: 'waf upstream list',
    found: ({ upstreams }, query) => allPages((page) => upstreams.listUpstreams({ query, page })),
  },
  ruleset: {
    what: 'ruleset',
    list: 'waf crs list',
    found: async ({ system }) => {
      const all = await allPages((page) => system.listSystemCrsRulesets({ page }));
      return all.map(({ id, version, status }) => ({
        id,
        name: version === '' ? id : `crs-${version}`,
        also: [version, ...(status === 'active' ? ['default'] : [])].filter((one) => one !== ''),
      }));
    },
  },
  role: {
    what: 'role',
    list: 'waf role list',
    found: ({ roles }, query) => allPages((page) => roles.listRoles({ query, page })),
  },
  user: {
    what: 'user',
    list: 'waf user list',
    found: async ({ users }, query) => {
      const all = await allPages((page) => users.listUsers({ query, page }));
      return all.map(({ id, username }) => ({ id, name: username }));
    },
  },
  node: {
    what: 'node',
    list: 'waf agent list',
    found: async ({ agents }) => (await agents.listNodes({ query: '' })).items,
  },
  'agent-group': {
    what: 'group of nodes',
    list: 'waf agent-group list',
    found: ({ agentGroups }, query) =>
      allPages((page) => agentGroups.listAgentGroups({ query, page })),
  },
  certificate: {
    what: 'certificate',
    list: 'waf cert list',
    found: ({ certs }) => allPages((page) => certs.listCerts({ page })),
  },
  'dns-provider': {
    what: 'DNS provider',
    list: 'waf cert dns-list',
    found: async ({ certs }) => (await certs.listDNSProviders({})).items,
  },
  'country-rule': {
    what: 'country rule',
    list: 'waf country list',
    found: async ({ countries }) => (await countries.listCountryAccessRules({})).items,
  },
  'custom-rule': { what: 'custom rule', list: 'waf rule list POLICY', found: customRules },
  'alert-rule': {
    what: 'alert rule',
    list: 'waf alert rules',
    found: ({ alerts }, query) => allPages((page) => alerts.listAlertRules({ query, page })),
  },
  'alert-channel': {
    what: 'alert channel',
    list: 'waf alert channels',
    found: ({ alerts }) => allPages((page) => alerts.listAlertChannels({ page })),
  },
};

/** Ids that the service makes; none of them is looked up. */
const madeId = /^[a-z-]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The id of the resource named `text`. Errors: AppError not_found, bad_flag for a name that several
 * have.
 */
export async function resolveName(
  api: ApiClient,
  resource: NamedResource,
  text: string,
): Promise<string> {
  if (text === '' || madeId.test(text)) return text;
  // Lists are searched by name: an id of another form is found in the whole list only.
  const named = matching(await listNamed(api, resource, text), text);
  const ids = named.length > 0 ? named : matching(await listNamed(api, resource, ''), text);
  const { what, list } = kinds[resource];
  if (ids.length === 1) return ids[0]!;
  if (ids.length > 1) {
    const several = `Several have the name "${text}"; give an id: ${ids.join(', ')}.`;
    throw new AppError('bad_flag', several, { source: 'client' });
  }
  // Groups may name nodes that do not exist yet.
  if (resource === 'node') return text;
  throw new AppError('not_found', `No ${what} named "${text}". List them with: ${list}`, {
    source: 'client',
  });
}

/** Ids of what has this id, else this name, else this name in other letters. */
function matching(found: readonly Named[], text: string): string[] {
  if (found.some(({ id }) => id === text)) return [text];
  const called = (same: (name: string) => boolean): string[] =>
    found.filter(({ name, also = [] }) => [name, ...also].some(same)).map(({ id }) => id);
  const exact = called((name) => name === text);
  const wanted = text.toLowerCase();
  return exact.length > 0 ? exact : called((name) => name.toLowerCase() === wanted);
}

/** Arguments in which names are ids. Cost: no call where no argument names a resource. */
export async function resolveArguments(
  api: () => Promise<ApiClient>,
  definitions: readonly ArgumentDefinition[],
  values: readonly string[],
): Promise<string[]> {
  const last = definitions.at(-1);
  const resolved = values.map(async (value, at) => {
    // A variadic argument takes all that is left.
    const { resource } = definitions[at] ?? (last?.name.includes('...') === true ? last : {});
    return resource === undefined ? value : resolveName(await api(), resource, value);
  });
  return Promise.all(resolved);
}

/** Flags likewise: repeatable ones, and those whose values are pairs that end with a resource. */
export async function resolveFlags(
  api: () => Promise<ApiClient>,
  definitions: readonly FlagDefinition[],
  values: FlagValues,
): Promise<FlagValues> {
  const resolved: Record<string, FlagValues[string]> = { ...values };
  for (const { flags, resource, pairResources } of definitions) {
    const name = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
    const key = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const value = values[key];
    const named = resource ?? pairResources;
    if (named === undefined || value === undefined || typeof value === 'boolean') continue;
    const isPair = /<\w+=[\w-]+>/.test(flags);
    const one = async (text: string): Promise<string> => {
      const cut = isPair ? text.indexOf('=') + 1 : 0;
      const kind = resource ?? pairResources?.[text.slice(0, Math.max(0, cut - 1)).trim()];
      if (kind === undefined) return text;
      return text.slice(0, cut) + (await resolveName(await api(), kind, text.slice(cut).trim()));
    };
    resolved[key] =
      typeof value === 'string' ? await one(value) : await Promise.all(value.map(one));
  }
  return resolved;
}

/** All resources of a kind whose name or host has `query`, with the names that people use. */
export function listNamed(
  api: ApiClient,
  resource: NamedResource,
  query: string,
): Promise<readonly Named[]> {
  return kinds[resource].found(api, query);
}

/** Of all policies; a rule may be named by its number, too. */
async function customRules(api: ApiClient): Promise<Named[]> {
  const policies = await allPages((page) => api.policies.listPolicies({ page }));
  const found: Named[] = [];
  for (const { id: policyId, isTemplate } of policies) {
    if (isTemplate) continue;
    const rules = await allPages((page) => api.customRules.listCustomRules({ policyId, page }));
    found.push(...rules.map(({ id, name, ruleId }) => ({ id, name, also: [String(ruleId)] })));
  }
  return found;
}
