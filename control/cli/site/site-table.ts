/** How sites look in a table. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import type { Table } from '../output.ts';

const statusNames = ['-', 'active', 'disabled', 'deleted', 'error'];
const modeNames = ['-', 'blocking', 'detection'];

/** One row a site; policies by name where `policyNames` has one. */
export function siteTable(
  sites: readonly Site[],
  policyNames: ReadonlyMap<string, string> = new Map(),
): Table {
  return {
    columns: ['ID', 'NAME', 'HOSTS', 'UPSTREAMS', 'WAF', 'POLICY', 'STATUS', 'REVISION'],
    rows: sites.map((site) => [
      site.id,
      site.name,
      [site.primaryHost, ...site.aliases].join(' '),
      site.upstreams.map((one) => one.inline?.url ?? one.upstreamId).join(' '),
      site.waf?.enabled === true ? (modeNames[site.waf.mode] ?? '-') : 'off',
      policyOf(site, policyNames),
      statusNames[site.status] ?? '-',
      String(site.revision),
    ]),
  };
}

function policyOf({ waf }: Site, names: ReadonlyMap<string, string>): string {
  const id = waf?.policyId ?? '';
  return id === '' ? '(default)' : (names.get(id) ?? id);
}
