/** What a site demands before it serves clients, as the runtime bundle carries it. */

import type { RuntimeBot, RuntimeVerifier } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { IpSet } from './access.ts';
import type { Plain } from './plain.ts';

/** Which proof the gate of a site asks for. */
export type BotMode = 'off' | 'browser_check' | 'human_verification';

/** What a challenge demands and what it grants. */
export interface ChallengeSettings {
  /** Time to solve it. */
  readonly challengeTtlSeconds: number;
  /** How long the clearance lasts. */
  readonly clearanceTtlSeconds: number;
  /** Zero bits of SHA-256 that a solution has. */
  readonly proofDifficulty: number;
  /** The clearance counts only for the client's /24 or /56. */
  readonly bindNetwork: boolean;
}

/** The services of others that tell people from programs. */
export type VerifierKind = 'turnstile' | 'hcaptcha' | 'recaptcha' | 'recaptcha_score';

/** A service that tells people from programs, as a site uses it; its secret is never logged. */
export interface VerifierConfig extends Omit<Plain<RuntimeVerifier>, 'kind' | 'hosts'> {
  readonly kind: VerifierKind;
}

/**
 * The bot gate of a site. Paths are folded and of whole segments, '' for every path; methods are in
 * upper case.
 */
export interface BotConfig extends Omit<
  Plain<RuntimeBot>,
  'mode' | 'trustedIpListIds' | 'challengePaths' | 'underAttack' | 'underAttackUntil'
> {
  readonly mode: BotMode;
  /** Where it asks; absent or [] for every path. */
  readonly challengePaths?: readonly string[];
  /** Until then it asks on every path, even in mode `off`; infinite for no end. */
  readonly underAttackUntilMs?: number;
  /** Addresses that are not asked. */
  readonly trusted: readonly IpSet[];
  /** Verifies people in place of the built-in question; absent for that question. */
  readonly verifier?: VerifierConfig;
}

/** Secret that seals challenges and clearances; 32 bytes. */
export type ChallengeKey = Uint8Array;

/** What using a challenge up comes to; `alone`: other nodes cannot be asked now. */
export type UseAnswer = 'first' | 'again' | 'alone';

/** Records for all nodes which challenges were used. */
export interface SharedUses {
  /** Uses a challenge up, by its id, for `seconds`. Never rejects. */
  use(id: string, seconds: number): Promise<UseAnswer>;
}

/** How challenges of this node count at others. */
export interface ChallengeSharing {
  /** Stands for this node. */
  readonly node: string;
  readonly uses: SharedUses;
}
