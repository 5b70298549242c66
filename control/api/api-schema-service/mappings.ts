/** Checks mappings of servers to hosts and base paths of a site. Pure. */

import type { SchemaMapping } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import type { Mapping } from '../../documents/declaration.ts';
import { parsePath } from '../../documents/path-template.ts';
import { invalidField } from '../../domain/errors.ts';
import { normalizeHost } from '../../domain/site/hosts.ts';
import { hostsOf } from '../../domain/site/site.ts';
import type { SiteRecord } from '../../domain/records.ts';

/** The mappings in their normal form. Errors: invalid_argument that names the entry. */
export function checkMappings(site: SiteRecord, mappings: readonly SchemaMapping[]): Mapping[] {
  if (mappings.length === 0) {
    throw invalidField('mappings', 'is required: name the host and base path of the API');
  }
  if (mappings.length > apiDocumentLimits.mappingsMax) {
    throw invalidField('mappings', `has more than ${apiDocumentLimits.mappingsMax} entries`);
  }
  return mappings.map((mapping, at) => checkMapping(site, mapping, `mappings[${at}]`));
}

function checkMapping(site: SiteRecord, mapping: SchemaMapping, field: string): Mapping {
  const host = normalizeHost(mapping.host, `${field}.host`);
  if (host.startsWith('*')) {
    throw invalidField(`${field}.host`, 'must be an exact name: name each API host of a wildcard');
  }
  if (!hostsOf(site).some((own) => answersFor(own, host))) {
    throw invalidField(`${field}.host`, 'must be a host of the site');
  }
  const { basePath, serverUrl, approved, variables } = mapping;
  const parsed = parsePath(basePath);
  const whole = basePath === '' || (/^\/[^?#{}]*[^/?#{}]$/.test(basePath) && 'segments' in parsed);
  if (!whole) {
    const problem = 'must be empty, or begin with a slash and not end with one, without parameters';
    throw invalidField(`${field}.basePath`, problem);
  }
  const methods = mapping.methods.map((method) => method.toUpperCase());
  if (!methods.every((method) => /^[A-Z][A-Z-]{0,31}$/.test(method))) {
    throw invalidField(`${field}.methods`, 'must hold methods such as GET');
  }
  return { host, basePath, methods, variables: { ...variables }, serverUrl, approved };
}

function answersFor(own: string, host: string): boolean {
  if (own === '*' || own === host) return true;
  if (!own.startsWith('*.')) return false;
  const label = host.slice(0, -(own.length - 1));
  return host.endsWith(own.slice(1)) && label !== '' && !label.includes('.');
}
