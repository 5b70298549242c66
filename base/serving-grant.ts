/** What a serving grant says; it travels as canonical JSON, signed. */

/** Names the form of a grant. */
export const servingGrantId = 'waf.serving_grant.v1';

/** What one node may serve. Numbers of 64 bits are decimal texts. */
export interface ServingGrant {
  readonly id: typeof servingGrantId;
  readonly nodeId: string;
  /** Rises with every grant of a node that says something else. */
  readonly revision: string;
  readonly configRevisionId: string;
  readonly generation: string;
  readonly bundleId: string;
  readonly targetRevision: string;
  /** SHA-256 of the bundle, hex. */
  readonly artifactSha256: string;
  readonly siteIds: readonly string[];
}

/** Reads a grant whose signature holds; null where it is none of this form. */
export function readServingGrant(bytes: Uint8Array): ServingGrant | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const grant = value as Readonly<Record<string, unknown>>;
  const text = (name: string, pattern: RegExp): boolean =>
    typeof grant[name] === 'string' && pattern.test(grant[name]);
  const sites = grant['siteIds'];
  const fits =
    grant['id'] === servingGrantId &&
    text('nodeId', /^[!-~]{1,256}$/) &&
    ['revision', 'generation', 'targetRevision'].every((name) => text(name, /^\d{1,18}$/)) &&
    ['configRevisionId', 'bundleId'].every((name) => text(name, /^config-\d{1,18}$/)) &&
    text('artifactSha256', /^[0-9a-f]{64}$/) &&
    Array.isArray(sites) &&
    sites.every((site) => typeof site === 'string');
  return fits ? (value as ServingGrant) : null;
}
