/** Names of resources in tables, in place of ids: what one table shows, another command takes. */

import type { ApiClient } from './api-client.ts';
import type { CommandContext } from './command.ts';
import type { NamedResource } from './named-resource.ts';
import type { Table } from './output.ts';
import { listNamed } from './resolve-names.ts';

/**
 * The table with names in place of the ids that it declares. Ids whose name another one has, too,
 * stay, and those that the caller may not list. Cost: a call for each kind of resource of which a
 * cell may hold an id; none where no table is shown.
 */
export async function withNames(
  { output, api }: Pick<CommandContext, 'output' | 'api'>,
  table: Table,
): Promise<Table> {
  const kinds = table.columns.map((column) => table.ids?.[column] ?? []);
  const used = new Set(
    kinds.flatMap((kind, at) => (table.rows.some((row) => /\w/.test(row[at] ?? '')) ? kind : [])),
  );
  if (output.format !== 'table' || used.size === 0) return table;
  const names = new Map<string, string>();
  for (const resource of used) {
    for (const [id, name] of await namesOf(await api(), resource)) names.set(id, name);
  }
  const shown = (cell: string, at: number): string => {
    if (kinds[at]?.length === 0) return cell;
    const words = cell.split(' ').map((id) => names.get(id) ?? id);
    return words.join(' ');
  };
  return { ...table, rows: table.rows.map((row) => row.map(shown)) };
}

/** Names by id; none where the caller may not list such resources. Errors: of the call. */
async function namesOf(api: ApiClient, resource: NamedResource): Promise<[string, string][]> {
  const { Code, ConnectError } = await import('@connectrpc/connect');
  try {
    const all = await listNamed(api, resource, '');
    const counts = new Map<string, number>();
    for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1);
    return all.flatMap(({ id, name }) => (counts.get(name) === 1 ? [[id, name]] : []));
  } catch (error) {
    if (ConnectError.from(error).code === Code.PermissionDenied) return [];
    throw error;
  }
}
