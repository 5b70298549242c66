/**
 * The table of controls that are stored but not enforced yet. A row goes when the engine (or
 * control) enforces what it names; answers, `waf doctor` and the documentation read this table.
 */

/** A record or message in its JSON form. */
export type ControlJson = Readonly<Record<string, unknown>>;

/** A control that has no effect yet. */
export interface UnenforcedControl {
  /** What people read: what is stored and what does not happen. */
  readonly says: string;
  /** Collection of the store that holds it. */
  readonly collection: string;
  /** API messages that show it. */
  readonly messages: readonly string[];
  /** Whether a record or message states the control. */
  readonly states: (json: ControlJson) => boolean;
}

/** Every control that is stored but not enforced: none at present. */
export const unenforcedControls: readonly UnenforcedControl[] = [];

/** What an answer that shows `json` has to say; empty where all it states is enforced. */
export function warningsFor(
  message: string,
  json: ControlJson,
  controls = unenforcedControls,
): string[] {
  return controls
    .filter(({ messages, states }) => messages.includes(message) && states(json))
    .map(({ says }) => says);
}

/** What an answer has to say about a control by its collection. */
export function warningsOf(collection: string): string[] {
  return unenforcedControls.filter((one) => one.collection === collection).map(({ says }) => says);
}

/** What the store holds without effect, in words with counts. */
export function unenforcedIn(
  recordsOf: (collection: string) => Iterable<ControlJson>,
  controls = unenforcedControls,
): string[] {
  return controls.flatMap((control) => {
    let count = 0;
    for (const record of recordsOf(control.collection)) if (control.states(record)) count += 1;
    return count === 0 ? [] : [`${control.says} (${count} stored)`];
  });
}
