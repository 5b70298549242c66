/** The collection of API tokens: what is kept of them, never their texts. */

import type { Collection } from './collection.ts';

/** One text of a token that is good. */
export interface TokenSecret {
  /** SHA-256 of the text, hex. */
  readonly sha256: string;
  /** RFC 3339; '' while it ends with the token only. */
  readonly endsAt: string;
}

/** One API token. */
export interface ApiTokenRecord {
  /** Part of the token's text. */
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly ownerId: string;
  /** Token that made it; '' when a person did. */
  readonly makerId: string;
  readonly roleId: string;
  /** Only these of the role; empty for all. */
  readonly permissions: readonly string[];
  /** Only these sites; empty for the whole deployment. */
  readonly siteIds: readonly string[];
  readonly mayManageTokens: boolean;
  /** The present text, and before it the one that a rotation left for a while. */
  readonly secrets: readonly TokenSecret[];
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339; '' for never. */
  readonly expiresAt: string;
  /** RFC 3339, to the minute; '' for never. */
  readonly lastUsedAt: string;
  readonly lastUsedAddress: string;
}

/** API tokens, found by owner and by the token that made them. */
export const apiTokens: Collection<ApiTokenRecord> = {
  name: 'api-tokens',
  indexes: { owner: (token) => [token.ownerId], maker: (token) => [token.makerId] },
};
