/**
 * The key under which a security event is counted for alerts: what alerts can be limited to, and
 * nothing of its client. Written by front threads, read by control.
 */

/** A security event as alerts count it. */
export interface AlertKey {
  readonly blocked: boolean;
  /** 0 emergency .. 7 debug; -1 for none. */
  readonly severity: number;
  /** Families of attacks; null where they were given up. */
  readonly attackTypes: readonly string[] | null;
  /** Rules that matched; null where they were given up. */
  readonly ruleIds: readonly string[] | null;
}

/** Stands for a list that was given up. */
const givenUp = '*';

/** The key of an event. Lists are sorted and hold no space and no comma. */
export function writeAlertKey({ blocked, severity, attackTypes, ruleIds }: AlertKey): string {
  const attacks = attackTypes === null ? givenUp : attackTypes.join(',');
  const rules = ruleIds === null ? givenUp : ruleIds.join(',');
  return `${blocked ? 'b' : 'p'} ${severity} ${attacks} ${rules}`;
}

/** The event of a key; null for what is none. */
export function readAlertKey(key: string): AlertKey | null {
  const found = /^([bp]) (-1|[0-7]) ([a-z0-9,*-]*) ([0-9,*]*)$/.exec(key);
  if (found === null) return null;
  const [, outcome, severity, attacks = '', rules = ''] = found;
  return {
    blocked: outcome === 'b',
    severity: Number(severity),
    attackTypes: readList(attacks),
    ruleIds: readList(rules),
  };
}

function readList(text: string): readonly string[] | null {
  if (text === givenUp) return null;
  return text === '' ? [] : text.split(',');
}
