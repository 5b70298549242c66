/**
 * The answers that this thread gives to certificate authorities (RFC 8555 section 8.3). They come
 * from control, live for a while, and are found by the whole token.
 */

import { tlsLimits } from '../../base/delivery-limits.ts';

/** Prefix of the paths that authorities ask for. */
export const acmePath = '/.well-known/acme-challenge/';

/** Answers by token. */
export class AcmeTokens {
  private readonly answers = new Map<string, string>();

  get empty(): boolean {
    return this.answers.size === 0;
  }

  /** Takes over what is to be answered; at the bound the oldest goes. */
  set(token: string, keyAuthorization: string): void {
    this.answers.delete(token);
    this.answers.set(token, keyAuthorization);
    if (this.answers.size > tlsLimits.acmeTokensMax) {
      this.answers.delete(this.answers.keys().next().value!);
    }
  }

  delete(token: string): void {
    this.answers.delete(token);
  }

  /** The answer to a path, query excluded; null for paths that no authority asks for. */
  find(path: string): string | null {
    if (!path.startsWith(acmePath)) return null;
    return this.answers.get(path.slice(acmePath.length)) ?? null;
  }
}
