/** Who hears of new events: whole security events, or facts as nodes sent them. */

import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { FactListener } from '../event-store.ts';
import { securityKind } from '../security-event.ts';
import type { Entry } from './entry.ts';
import { eventOfEntry } from './read-entry.ts';

/** The listeners of one store. */
export class EventListeners {
  readonly #events = new Set<(event: SecurityEventJson) => void>();
  readonly #facts = new Set<FactListener>();

  /** Calls `listener` with every security event from now on; returns the undo. */
  subscribe(listener: (event: SecurityEventJson) => void): () => void {
    this.#events.add(listener);
    return () => this.#events.delete(listener);
  }

  /** Calls `listener` with the facts of every batch that is new; returns the undo. */
  onFacts(listener: FactListener): () => void {
    this.#facts.add(listener);
    return () => this.#facts.delete(listener);
  }

  /** The entries are kept. */
  tell(kind: Parameters<FactListener>[0], entries: readonly Entry[]): void {
    for (const listener of this.#facts) listener(kind, entries);
    if (kind !== 'security' || this.#events.size === 0) return;
    for (const entry of entries) {
      const event = eventOfEntry(securityKind, entry);
      if (event !== null) for (const listener of this.#events) listener(event);
    }
  }
}
