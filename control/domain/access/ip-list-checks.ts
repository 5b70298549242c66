/** The checks that IP lists, country rules, rate limits and trust have in common. */

import { accessLimits } from '../../limits/access-limits.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField } from '../errors.ts';

/** Where a rule of access decides. */
export type AccessScope = 'global' | 'policy' | 'site';

/** What a rule of access says, beside what it is about. */
export interface AccessChoice {
  readonly kind?: string;
  readonly bypassMode?: string;
  readonly addressSource?: string;
  readonly matchMode?: string;
}

/** Name and description of a list, trimmed. Errors: invalid_argument under `at`. */
export function checkListTexts(
  list: { readonly name?: string; readonly description?: string },
  at: string,
): { readonly name: string; readonly description: string } {
  const name = (list.name ?? '').trim();
  const description = list.description ?? '';
  if (name === '') throw invalidField(`${at}name`, 'is required');
  if (name.length > resourceLimits.nameCharactersMax || hasControls(name)) {
    throw invalidField(
      `${at}name`,
      `has at most ${resourceLimits.nameCharactersMax} printable characters`,
    );
  }
  if (description.length > accessLimits.descriptionCharsMax) {
    throw invalidField(
      `${at}description`,
      `has at most ${accessLimits.descriptionCharsMax} characters`,
    );
  }
  return { name, description };
}

/** Checks kind, bypass, address and match of a rule. Errors: invalid_argument under `at`. */
export function checkAccessChoice(choice: AccessChoice, at: string): Required<AccessChoice> {
  const kind = oneOf(choice.kind, ['allow', 'deny', 'monitor'], `${at}kind`);
  const addressSource = oneOf(choice.addressSource, ['client_ip', 'peer_ip'], `${at}addressSource`);
  const matchMode = oneOf(choice.matchMode, ['in_list', 'not_in_list'], `${at}matchMode`);
  const bypassMode = choice.bypassMode ?? '';
  if (kind !== 'allow') {
    if (bypassMode !== '') throw invalidField(`${at}bypassMode`, 'goes with kind allow only');
    return { kind, addressSource, matchMode, bypassMode: '' };
  }
  // What skips less is the answer to silence.
  const bypass = bypassMode === '' ? 'ip_lists_only' : bypassMode;
  return {
    kind,
    addressSource,
    matchMode,
    bypassMode: oneOf(bypass, ['all_waf', 'ip_lists_only'], `${at}bypassMode`),
  };
}

/** A path prefix without the final slash; '' for every path. Errors: invalid_argument at `at`. */
export function checkPathPrefix(path: string, at: string): string {
  if (path === '' || path === '/') return '';
  if (!/^\/[^\s"'\\?#]{0,1023}$/.test(path)) {
    throw invalidField(at, 'must be a path prefix that begins with a slash');
  }
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Checks an order. Errors: invalid_argument at `at`. */
export function checkSortOrder(order: number | undefined, at: string): number {
  const value = order ?? 0;
  if (value < 0 || value > 1_000_000) throw invalidField(at, 'must be between 0 and 1000000');
  return value;
}

/** The value, which must be one of `allowed`. Errors: invalid_argument at `at`. */
export function oneOf(value: string | undefined, allowed: readonly string[], at: string): string {
  if (value !== undefined && allowed.includes(value)) return value;
  const must = `must be one of ${allowed.join(', ')}`;
  throw invalidField(at, value === undefined || value === '' ? `is required; ${must}` : must);
}

/** Whether a text holds control characters. */
export function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
