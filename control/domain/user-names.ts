/** What a user name, a mail address and a shown name may be. */

import { resourceLimits } from '../limits/resource-limits.ts';
import { invalidField } from './errors.ts';

const { nameCharactersMax } = resourceLimits;
const usernamePattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const emailPattern = /^[^\s@]{1,64}@[^\s@]{1,190}$/;
const providerPattern = /^(?:radius|(?:oidc|saml):[a-z0-9][a-z0-9-]{0,31})$/;

/** Whether a text can be a user name. */
export function isUsername(text: string): boolean {
  return usernamePattern.test(text);
}

/** Whether a text can be a mail address. */
export function isEmail(text: string): boolean {
  return emailPattern.test(text);
}

/** A shown name within its bound and without control characters. */
export function trimDisplayName(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, nameCharactersMax);
}

/** Errors: invalid_argument naming the field of `user`. */
export function checkUserFields(user: {
  readonly username: string;
  readonly email: string;
  readonly displayName: string;
  readonly externalProviders?: readonly string[];
}): void {
  if (!isUsername(user.username)) {
    throw invalidField('user.username', 'must have 1 to 64 letters, digits, dots, @, _ or -');
  }
  if (user.email !== '' && !isEmail(user.email)) {
    throw invalidField('user.email', 'must be a mail address');
  }
  if (user.displayName.length > nameCharactersMax) {
    throw invalidField('user.displayName', `has at most ${nameCharactersMax} characters`);
  }
  user.externalProviders?.forEach((provider, at) => {
    if (providerPattern.test(provider)) return;
    throw invalidField(
      `user.externalProviders[${at}]`,
      'must be radius, oidc:ID or saml:ID with the id of a provider',
    );
  });
}
