/** How sites look in a table. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import type { Table } from '../output.ts';

const statusNames = ['-', 'active', 'disabled', 'deleted', 'error'];
const modeNames = ['-', 'blocking', 'detection'];

/** One row a site. */
export function siteTable(sites: readonly Site[]): Table {
  return {
    columns: ['ID', 'NAME', 'HOSTS', 'UPSTREAMS', 'WAF', 'POLICY', 'STATUS', 'REVISION'],
    ids: { UPSTREAMS: ['upstream'], POLICY: ['policy'] },
    rows: sites.map((site) => [
      site.id,
      site.name,
      [site.primaryHost, ...site.aliases].join(' '),
      site.upstreams.map((one) => one.inline?.url ?? one.upstreamId).join(' '),
      site.waf?.enabled === true ? (modeNames[site.waf.mode] ?? '-') : 'off',
      site.waf?.policyId || '(default)',
      statusNames[site.status] ?? '-',
      String(site.revision),
    ]),
  };
}
