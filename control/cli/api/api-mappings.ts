/** Where the operations of a document lie on a site when nobody says it. Pure. */

import { serversOf, type DocumentModel } from '../../documents/document-model.ts';
import { badFlag } from '../input.ts';

/** A server of the document at its place on the site. */
export interface PlannedMapping {
  readonly host: string;
  readonly basePath: string;
  readonly serverUrl: string;
  readonly variables: Record<string, string>;
  readonly approved: true;
}

/** What the operator said. */
export interface NamedPlace {
  /** Empty for those of the document and the site. */
  readonly hosts: readonly string[];
  /** Undefined for that of each server. */
  readonly basePath: string | undefined;
}

/**
 * One mapping for each host and server; servers that place no further operation are left out.
 * Errors: AppError bad_flag where the document or the site leaves a place open.
 */
export function planMappings(
  model: DocumentModel,
  siteHosts: readonly string[],
  named: NamedPlace,
): PlannedMapping[] {
  const exact = siteHosts.filter((host) => !host.startsWith('*'));
  const planned: PlannedMapping[] = [];
  const placed = new Set<string>();
  for (const { url, variables } of serversOf(model)) {
    const filled = url.replaceAll(/\{([^{}]+)\}/g, (all, name: string) => variables[name] ?? all);
    const basePath = named.basePath ?? basePathOf(filled, url);
    const operations = model.operations.filter(({ servers }) => servers.includes(url));
    for (const host of hostsFor(filled, siteHosts, exact, named.hosts)) {
      const places = operations.map(({ pointer }) => `${host}${basePath} ${pointer}`);
      if (places.every((one) => placed.has(one))) continue;
      for (const one of places) placed.add(one);
      planned.push({ host, basePath, serverUrl: url, variables: { ...variables }, approved: true });
    }
  }
  return planned;
}

/**
 * The hosts that are named, else the server's own where the site has it, else those of the site.
 */
function hostsFor(
  url: string,
  siteHosts: readonly string[],
  exact: readonly string[],
  named: readonly string[],
): readonly string[] {
  if (named.length > 0) return named;
  const own = (/^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/:?#]+)/i.exec(url)?.[1] ?? '').toLowerCase();
  if (own !== '' && siteHosts.some((one) => takesHost(one, own))) return [own];
  if (exact.length > 0) return exact;
  throw badFlag(
    '--host is missing: the site has only hosts with a star; name each host of the API',
  );
}

/** One label stands for the star. */
function takesHost(siteHost: string, host: string): boolean {
  if (siteHost === '*' || siteHost === host) return true;
  const cut = host.indexOf('.');
  return siteHost.startsWith('*.') && cut > 0 && host.slice(cut) === siteHost.slice(1);
}

function basePathOf(filled: string, url: string): string {
  const path = filled
    .replace(/^[a-z][a-z0-9+.-]*:/i, '')
    .replace(/^\/\/[^/]*/, '')
    .replace(/\/$/, '');
  if (path === '' || (path.startsWith('/') && !/[{}?#]/.test(path))) return path;
  const shown = JSON.stringify(url.slice(0, 128));
  throw badFlag(`--base-path is missing: the server ${shown} does not say where its paths begin`);
}
