/** Actions on the tree of paths. Two are reserved; the others need the API inventory. */

import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { ApiParts } from '../context.ts';
import { storedSite } from '../site-service/stored-site.ts';

const actions = ['hide', 'restore', 'retire'];
const reserved = ['block', 'apply_body_suggestion'];
const known = ['site', 'asset_id', 'action', 'expected_revision'];

/** Checks an action. Errors: unimplemented for reserved ones, not_found: no assets are kept. */
export function apiTreeAction(parts: ApiParts, caller: Caller, body: unknown): never {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidField('body', 'must be a JSON object');
  }
  const fields = body as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) throw invalidField('body', `allowed are ${known.join(', ')}`);
  }
  const [site, assetId, action, revision] = known.map((name) => {
    const value = fields[name] ?? '';
    if (typeof value !== 'string') throw invalidField(name, 'must be a text');
    return value;
  });
  if (reserved.includes(action!)) throw refusal('unimplemented', 'action: is reserved');
  if (action === 'confirm') throw invalidField('action', 'confirm is no longer supported');
  if (!actions.includes(action!)) {
    throw invalidField('action', `must be one of ${actions.join(', ')}`);
  }
  storedSite(parts.store, caller, site!, 'site');
  if (assetId === '') throw invalidField('asset_id', 'is required');
  if (!/^\d{1,19}$/.test(revision!)) {
    throw invalidField('expected_revision', 'must be the revision that you read, a text of digits');
  }
  throw notFound('asset', assetId!);
}
