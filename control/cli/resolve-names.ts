/**
 * Owns turning the names that people give resources into ids: an id stays, a name that exactly one
 * resource has becomes its id, and the service judges everything else.
 */

import type { ApiClient } from './api-client.ts';
import type { ArgumentDefinition, FlagDefinition, FlagValues, NamedResource } from './command.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Ids that the service makes; none of them is looked up. */
const madeId = /^[a-z-]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const page = { page: 1, pageSize: 200 };

/** The id behind `text`; `text` itself when it is an id or no resource is called so. */
export async function resolveName(
  api: ApiClient,
  resource: NamedResource,
  text: string,
): Promise<string> {
  if (text === '' || madeId.test(text)) return text;
  const found = await listNamed(api, resource, text);
  if (found.some(({ id }) => id === text)) return text;
  const named = found.filter(({ name }) => name === text);
  return named.length === 1 ? named[0]!.id : text;
}

/** Arguments in which names are ids. Cost: no call where no argument names a resource. */
export async function resolveArguments(
  api: () => Promise<ApiClient>,
  definitions: readonly ArgumentDefinition[],
  values: readonly string[],
): Promise<string[]> {
  const resolved = values.map(async (value, at) => {
    const { resource } = definitions[at] ?? {};
    return resource === undefined ? value : resolveName(await api(), resource, value);
  });
  return Promise.all(resolved);
}

/** Flags likewise, repeatable ones too. */
export async function resolveFlags(
  api: () => Promise<ApiClient>,
  definitions: readonly FlagDefinition[],
  values: FlagValues,
): Promise<FlagValues> {
  const resolved: Record<string, FlagValues[string]> = { ...values };
  for (const { flags, resource } of definitions) {
    const name = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
    const key = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const value = values[key];
    if (resource === undefined || value === undefined || typeof value === 'boolean') continue;
    const one = async (text: string) => resolveName(await api(), resource, text);
    resolved[key] =
      typeof value === 'string' ? await one(value) : await Promise.all(value.map(one));
  }
  return resolved;
}

async function listNamed(
  { sites, policies, ipLists, upstreams }: ApiClient,
  resource: NamedResource,
  query: string,
): Promise<readonly Named[]> {
  switch (resource) {
    case 'site':
      return (await sites.listSites({ query, page })).items;
    case 'policy': {
      // Templates have the names of the policies that were made from them.
      const { items } = await policies.listPolicies({ query, page });
      const chosen = items.filter(({ id }) => !id.startsWith('template-') || id === query);
      return chosen.map(({ id, name }) => ({ id, name: name.replace(/ \(built in\)$/, '') }));
    }
    case 'ip-list':
      return (await ipLists.listIpLists({ query, page })).items;
    case 'upstream':
      return (await upstreams.listUpstreams({ query, page })).items;
  }
}
