/**
 * Who may enroll: what a token allows, for how long and for how many. Pure decisions; secrets come
 * as hashes only.
 */

import { counted } from '../../../base/counted.ts';
import { nodeLimits } from '../../limits/node-limits.ts';
import { invalidField, refusal } from '../errors.ts';

/** A token with which nodes enroll. The secret itself is shown once and never kept. */
export interface EnrollmentTokenRecord {
  readonly id: string;
  readonly tenantId: string;
  /** SHA-256 of the secret, hex. */
  readonly secretSha256: string;
  /** Given to the nodes that it enrolls. */
  readonly tags: readonly string[];
  readonly maxNodes: number;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
}

/** A node that a token enrolled; kept when the node is deleted. */
export interface EnrollmentRecord {
  /** Token and SHA-256 of the fingerprint. */
  readonly id: string;
  readonly tokenId: string;
  readonly agentId: string;
  /** RFC 3339. */
  readonly enrolledAt: string;
  /** RFC 3339; '' while the node exists. */
  readonly deletedAt: string;
}

/** What an enrolled node proves itself with. Never leaves the store. */
export interface AgentIdentityRecord {
  /** The node's id. */
  readonly id: string;
  /** SHA-256 of its stream token, hex. */
  readonly streamTokenSha256: string;
  /** SHA-256 of the certificates that count, hex: the newest, and the one it renewed with. */
  readonly certificatesSha256: readonly string[];
  /** SHA-256 of their public keys, hex; absent in records of earlier versions. */
  readonly keysSha256?: readonly string[];
  /** RFC 3339; absent before its certificate was renewed. */
  readonly renewedAt?: string;
}

/** An authority that signs certificates of nodes. Never leaves the store, but its certificate. */
export interface NodeAuthorityRecord {
  readonly id: string;
  readonly certificatePem: string;
  /** PKCS #8 PEM. */
  readonly keyPem: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** What an operator wants of a token. */
export interface TokenWish {
  readonly tags: readonly string[];
  readonly ttlSeconds: number;
  readonly maxNodes: number;
}

const tagPattern = /^[A-Za-z0-9][A-Za-z0-9_.:=/-]{0,127}$/;

/** Tags as they are kept, each once. Errors: invalid_argument at `field`. */
export function checkTags(tags: readonly string[], field: string): string[] {
  const { tagsMax } = nodeLimits;
  if (tags.length > tagsMax) throw invalidField(field, `has at most ${tagsMax} entries`);
  tags.forEach((tag, index) => {
    if (tagPattern.test(tag)) return;
    throw invalidField(`${field}[${index}]`, 'must be a tag: letters, digits, _ . : = / and -');
  });
  return [...new Set(tags)];
}

/** The wish with defaults. Errors: invalid_argument. */
export function checkTokenWish({ tags, ttlSeconds, maxNodes }: TokenWish): TokenWish {
  const { tokenTtlSecondsMin, tokenTtlSecondsMax, tokenTtlSecondsDefault } = nodeLimits;
  const { nodesPerTokenMax } = nodeLimits;
  if (ttlSeconds !== 0 && (ttlSeconds < tokenTtlSecondsMin || ttlSeconds > tokenTtlSecondsMax)) {
    const range = `between ${tokenTtlSecondsMin} and ${tokenTtlSecondsMax}`;
    throw invalidField('ttlSeconds', `must be ${range}; 0 acts as ${tokenTtlSecondsDefault}`);
  }
  if (maxNodes < 0 || maxNodes > nodesPerTokenMax) {
    throw invalidField('maxNodes', `must be between 1 and ${nodesPerTokenMax}; 0 acts as 1`);
  }
  return {
    tags: checkTags(tags, 'tags'),
    ttlSeconds: ttlSeconds === 0 ? tokenTtlSecondsDefault : ttlSeconds,
    maxNodes: maxNodes === 0 ? 1 : maxNodes,
  };
}

/**
 * Admits a node to a token's number: one that the token has enrolled counts once, deleted ones stay
 * counted. Errors: failed_precondition for a token that ended, resource_exhausted for one that is
 * used up, permission_denied for a node that was deleted: it needs a new token.
 */
export function admitToToken(
  token: EnrollmentTokenRecord,
  known: EnrollmentRecord | undefined,
  registered: number,
  nowMs: number,
): void {
  if (nowMs >= Date.parse(token.expiresAt)) {
    throw refusal(
      'failed_precondition',
      'enrollmentToken: it has expired; issue a new one with waf agent install',
    );
  }
  if (known !== undefined && known.deletedAt !== '') {
    throw refusal(
      'permission_denied',
      'enrollmentToken: this node was deleted; issue a new token to enroll it again',
    );
  }
  if (known === undefined && registered >= token.maxNodes) {
    throw refusal(
      'resource_exhausted',
      `enrollmentToken: it enrolls ${counted(token.maxNodes, 'node')} and has done so; issue a new one`,
    );
  }
}

/** A name that no other node has: the host name, with a number where it is taken. */
export function freeName(wanted: string, id: string, taken: ReadonlySet<string>): string {
  const base = wanted === '' ? id : wanted.slice(0, 200);
  if (!taken.has(base)) return base;
  for (let count = 2; ; count++) {
    const name = `${base}-${count}`;
    if (!taken.has(name)) return name;
  }
}
