/** Turns the revision of a saved version, as people read it in lists, into its id. */

import { AppError } from '../../../base/errors.ts';
import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';
import { resolveName } from '../resolve-names.ts';

const named = /^(?:(.+):)?(\d+)$/;

/** The policy that a version is named with, as in `standard:3`; '' where none is. */
export function policyOfVersion(text: string): string {
  return named.exec(text)?.[1] ?? '';
}

/**
 * The id of a version: an id stays; a revision, `3` or `standard:3`, becomes the id of the newest
 * version that has it. Errors: AppError bad_flag without a policy, not_found.
 */
export async function versionIdOf(api: ApiClient, text: string, policy: string): Promise<string> {
  const match = named.exec(text);
  if (match === null) return text;
  const [, ownPolicy = policy, revision = ''] = match;
  if (ownPolicy === '') {
    const message = `${text}: which policy? Write POLICY:${revision}, or the id of the version.`;
    throw new AppError('bad_flag', message, { source: 'client' });
  }
  const policyId = await resolveName(api, 'policy', ownPolicy);
  const versions = await allPages((page) => api.policies.listPolicyVersions({ policyId, page }));
  // The newest comes first: bindings set on their own are a further version of the same revision.
  const found = versions.find((one) => String(one.revision) === revision);
  if (found !== undefined) return found.id;
  const message = `No saved version has revision ${revision}. List them with: waf policy versions ${ownPolicy}`;
  throw new AppError('not_found', message, { source: 'client' });
}
