/**
 * Collects what a front thread notices about clients: samples of sites under analysis, and forged
 * address headers, counted per client. In memory, bounded, sent in batches.
 */

import { trustLimits } from '../../../base/guard-limits.ts';
import type { ClientSample, ClientNotes, SpoofNote } from '../../contract/trust.ts';

/** The observations of one thread. */
export class ClientWatch {
  /** Samples that are still wanted, by site; empty nearly always. */
  readonly wanted = new Map<string, number>();
  private samples: ClientSample[] = [];
  private readonly spoofs = new Map<string, SpoofNote>();

  /** Asks for `count` samples of a site; 0 stops. */
  want(siteId: string, count: number): void {
    if (count === 0) this.wanted.delete(siteId);
    else this.wanted.set(siteId, Math.min(count, trustLimits.clientSamplesMax));
  }

  addSample(sample: ClientSample): void {
    const left = (this.wanted.get(sample.siteId) ?? 0) - 1;
    this.want(sample.siteId, Math.max(0, left));
    this.samples.push(sample);
  }

  addSpoof(siteId: string, peer: string, header: string, nowMs: number): void {
    const name = `${siteId}\n${peer}\n${header}`;
    const known = this.spoofs.get(name);
    if (known === undefined && this.spoofs.size >= trustLimits.spoofTuplesMax) return;
    const count = (known?.count ?? 0) + 1;
    this.spoofs.set(name, {
      firstSeenMs: known?.firstSeenMs ?? nowMs,
      siteId,
      peer,
      header,
      count,
    });
  }

  /** What was noticed since the last call; null for nothing. */
  drain(): ClientNotes | null {
    if (this.samples.length === 0 && this.spoofs.size === 0) return null;
    const notes = { samples: this.samples, spoofs: [...this.spoofs.values()] };
    this.samples = [];
    this.spoofs.clear();
    return notes;
  }
}
