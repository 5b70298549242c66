/** Reads kept entries: whole, or only what the index holds of them. Pure. */

import { entryForm, type Entry } from './entry.ts';
import type { EventKind, EventTerms, StoredEvent } from './event-kind.ts';

/** Reads an entry as an event; null when it is damaged. */
export function eventOfEntry<E extends StoredEvent>(kind: EventKind<E>, entry: Entry): E | null {
  try {
    if (entry.form === entryForm.json) {
      return JSON.parse(Buffer.from(entry.bytes).toString('utf8')) as E;
    }
    return kind.toEvent(entry.bytes, entry);
  } catch {
    // One damaged entry hides no other.
    return null;
  }
}

/** Index values of an entry; null where it is damaged. */
export function termsOfEntry<E extends StoredEvent>(
  kind: EventKind<E>,
  entry: Entry,
): EventTerms | null {
  if (kind.termsOfFact === undefined || entry.form !== entryForm.fact) {
    const event = eventOfEntry(kind, entry);
    return event === null ? null : kind.termsOf(event);
  }
  try {
    return kind.termsOfFact(entry.bytes, entry.agentId);
  } catch {
    // As above.
    return null;
  }
}
