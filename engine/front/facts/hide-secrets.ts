/**
 * What a security event shows of a match: values of password-like fields are hidden wherever they
 * turn up in it. The record of the transaction itself stays as it is.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';
import { clientCollections } from '../../base/client-collections.ts';
import { isSecretVariable } from '../../base/secret-names.ts';
import { SecretParts } from '../../base/secret-parts.ts';
import { hiddenText, hideSecrets, secretsIn } from '../../base/secret-text.ts';
import type { MatchedRule, MatchedVariable } from '../../contract/verdict.ts';

/** Named values that hold nothing of other fields; a part of a secret in them is their own. */
const ownValue = new RegExp(`^(?:${clientCollections.join('|')}):`, 'i');
const holdsOthers = /^request_headers:(?:cookie|referer)$/i;
/** What rules derive from the values before. */
const derived = /^(?:matched_vars?|tx)(?::|$)/i;

/** The matches with secrets hidden; `values` are those of the request that are known. */
export function hideInMatches(
  matches: readonly MatchedRule[],
  values: readonly string[],
): MatchedRule[] {
  const known = new SecretParts([...values, ...secretsOfTexts(matches)]);
  const whole = once((text) => known.hideWhole(hideSecrets(text)));
  const parts = once((text) => known.hideParts(hideSecrets(text)));
  return matches.map((match) => hideInMatch(match, whole, parts));
}

/** The same texts come under many rules: each is looked through once. */
function once(hide: (text: string) => string): (text: string) => string {
  const seen = new Map<string, string>();
  return (text) => {
    let result = seen.get(text);
    if (result === undefined) seen.set(text, (result = hide(text)));
    return result;
  };
}

/** Secrets that stand in matched texts under names which no parser saw. */
function secretsOfTexts(matches: readonly MatchedRule[]): Set<string> {
  const texts = new Set<string>();
  for (const { matched } of matches) {
    for (const { name, value } of matched) {
      if (texts.size >= frontLimits.eventSecretTextsMax) break;
      texts.add(name);
      if (!isOwn(name)) texts.add(value);
    }
  }
  const found = new Set<string>();
  for (const text of texts) {
    for (const one of secretsIn(text, frontLimits.eventSecretsMax)) {
      if (found.size < frontLimits.eventSecretsMax) found.add(one);
    }
  }
  return found;
}

function hideInMatch(
  match: MatchedRule,
  whole: (text: string) => string,
  parts: (text: string) => string,
): MatchedRule {
  const { matched } = match;
  const secret = matched.filter(({ name }) => isSecretVariable(name));
  const own = secret.length === 0 && matched.every(({ name }) => isOwn(name));
  const tell = own ? whole : parts;
  const found = new SecretParts(secret.map(({ value }) => value));
  const text = (written: string): string => {
    return secret.length === 0 ? tell(written) : tell(found.hideParts(hideFound(written)));
  };
  const show = ({ name, value }: MatchedVariable): MatchedVariable => {
    const hides = isSecretVariable(name) || (secret.length > 0 && derived.test(name));
    const shown = isOwn(name) ? whole : parts;
    return { name: parts(name), value: hides ? hiddenText : shown(value) };
  };
  return {
    ...match,
    message: text(match.message),
    data: text(match.data),
    tags: match.tags.map((tag) => (secret.length === 0 ? tag : text(tag))),
    matched: matched.map(show),
  };
}

function isOwn(name: string): boolean {
  return ownValue.test(name) && !holdsOthers.test(name);
}

/** What CRS writes of a capture, however short. */
function hideFound(data: string): string {
  return data.replace(/(Matched Data: ).*?( found within )/s, `$1${hiddenText}$2`);
}
