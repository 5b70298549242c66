/**
 * What challenges of all sites share in a thread: keys, the table of what was used, and the
 * clearances that were opened.
 */

import { randomBytes } from 'node:crypto';
import { botLimits } from '../../../base/guard-limits.ts';
import type { ChallengeKey, ChallengeSharing } from '../../contract/bot.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { randomSeed, RateTable, shareRates } from '../rate-table.ts';
import { ChallengeDesk } from './challenge-desk.ts';
import type { Clearance } from './challenge-token.ts';
import { TextSealer } from './sealed-text.ts';
import { Verifiers } from './verifiers.ts';

/** See the header. */
export class Challenges {
  private readonly ownKey: ChallengeKey;
  private readonly table: RateTable;
  private readonly sharing: ChallengeSharing | null;
  private readonly verifiers: Verifiers;
  private readonly opened = new Map<string, Clearance>();
  private readonly sealers = new Map<string, TextSealer>();

  /** `ownKey` seals for sites that no control gave keys; `sharing`: null for this node alone. */
  constructor(
    table: RateTable,
    ownKey: ChallengeKey,
    sharing: ChallengeSharing | null = null,
    verifiers = new Verifiers(),
  ) {
    this.verifiers = verifiers;
    this.table = table;
    this.sharing = sharing;
    this.ownKey = ownKey;
  }

  deskOf(site: SiteConfig): ChallengeDesk {
    const keys = (site.challengeKeys ?? []).slice(0, botLimits.keysMax);
    const { table, opened, sharing, verifiers } = this;
    const sealer = this.sealerOf(keys.length === 0 ? [this.ownKey] : keys);
    return new ChallengeDesk(site, { sealer, table, opened, sharing, verifiers });
  }

  private sealerOf(keys: readonly ChallengeKey[]): TextSealer {
    const name = keys.map((key) => Buffer.from(key).toString('base64')).join();
    let sealer = this.sealers.get(name);
    if (sealer === undefined) {
      // Keys changed: what they sealed is opened anew.
      if (this.sealers.size >= botLimits.keysMax) this.sealers.clear();
      this.opened.clear();
      sealer = new TextSealer(keys);
      this.sealers.set(name, sealer);
    }
    return sealer;
  }
}

/** The services of a thread that challenges use. */
export interface ChallengeServices {
  readonly challenges?: Challenges;
  readonly rates: RateTable | null;
}

/** The desk of a site. Without challenges of the thread it knows nothing that others know. */
export function deskOf(site: SiteConfig, services: ChallengeServices): ChallengeDesk {
  const { challenges, rates } = services;
  if (challenges !== undefined) return challenges.deskOf(site);
  return new Challenges(rates ?? smallTable(), randomBytes(32)).deskOf(site);
}

function smallTable(): RateTable {
  const sets = 64;
  return new RateTable(shareRates(randomSeed(), sets));
}
