/** Collects, on the main thread, what front threads noticed about clients; control reads it. */

import { trustLimits } from '../../../base/guard-limits.ts';
import type { ClientAnswers } from '../../contract/evaluation.ts';
import type { ClientSample, ClientNotes, SpoofNote } from '../../contract/trust.ts';

/** Samples that were asked for, and forged headers of the last hour. */
export class ClientMemory {
  private readonly samples = new Map<string, { readonly wanted: number; found: ClientSample[] }>();
  private readonly spoofs = new Map<string, SpoofNote>();

  /** Starts over for a site. At the bound, the oldest analysis is dropped. */
  begin(siteId: string, count: number): void {
    this.samples.delete(siteId);
    this.samples.set(siteId, { wanted: count, found: [] });
    const oldest = [...this.samples.keys()][0];
    if (this.samples.size > trustLimits.analysesMax && oldest !== undefined) {
      this.samples.delete(oldest);
    }
  }

  end(siteId: string): void {
    this.samples.delete(siteId);
  }

  /** What was collected for a site since it began; null without an analysis. */
  collected(siteId: string): { samples: readonly ClientSample[]; active: boolean } | null {
    const known = this.samples.get(siteId);
    if (known === undefined) return null;
    return { samples: known.found, active: known.found.length < known.wanted };
  }

  /** The calls of control; `ask` has every thread sample up to `count` clients of a site. */
  answers(ask: (siteId: string, count: number) => void): ClientAnswers {
    return {
      sampleClients: (siteId, count, end) => {
        if (end) this.end(siteId);
        else if (count > 0) this.begin(siteId, count);
        if (end || count > 0) ask(siteId, end ? 0 : count);
        return this.collected(siteId) ?? { samples: [], active: false };
      },
      spoofNotes: () => this.warnings(Date.now()),
    };
  }

  receive({ samples, spoofs }: ClientNotes): void {
    for (const sample of samples) {
      const known = this.samples.get(sample.siteId);
      if (known !== undefined && known.found.length < known.wanted) known.found.push(sample);
    }
    for (const note of spoofs) this.addSpoof(note);
  }

  /** Forged headers of the last hour, oldest first; one row per client, header and hour. */
  warnings(nowMs: number): SpoofNote[] {
    for (const [name, { firstSeenMs }] of this.spoofs) {
      if (firstSeenMs < nowMs - trustLimits.spoofKeptMs) this.spoofs.delete(name);
    }
    return [...this.spoofs.values()].sort((left, right) => left.firstSeenMs - right.firstSeenMs);
  }

  private addSpoof(note: SpoofNote): void {
    const name = `${note.siteId}\n${note.peer}\n${note.header}`;
    const before = this.spoofs.get(name);
    const known =
      before !== undefined && before.firstSeenMs >= note.firstSeenMs - trustLimits.spoofKeptMs
        ? before
        : undefined;
    if (before === undefined && this.spoofs.size >= trustLimits.spoofTuplesMax) {
      const oldest = [...this.spoofs.keys()][0];
      if (oldest !== undefined) this.spoofs.delete(oldest);
    }
    const firstSeenMs = known?.firstSeenMs ?? note.firstSeenMs;
    this.spoofs.set(name, { ...note, firstSeenMs, count: note.count + (known?.count ?? 0) });
  }
}
