/**
 * What texts of rules say to the planner: which TX variables their macros read, and what a
 * `ctl` switches. Reads them just as they are bound; decides nothing.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { splitAssignment, unquote } from '../features/actions/action-common.ts';
import { lowerBytes } from '../transaction/macro.ts';
import type { BoundAction, Rule } from '../transaction/types.ts';

/** What the macros of a text read of TX. */
export interface TxReads {
  /** Lower case. */
  readonly names: readonly string[];
  /** True for `%{tx}` and `%{tx./regex/}`, which show the first of several. */
  readonly lists: boolean;
}

/** The TX variables that `%{tx...}` in `text` stands for. */
export function txReads(text: ByteString): TxReads {
  const names: string[] = [];
  let lists = false;
  for (const [, name = ''] of text.matchAll(/%\{tx(?:[.:]([^}]*))?\}/gi)) {
    if (name === '' || name.startsWith('/')) lists = true;
    else names.push(lowerBytes(name));
  }
  return { names, lists };
}

/** The rule and the links of its chain. */
export function linksOf(rule: Rule): Rule[] {
  const links: Rule[] = [];
  for (let link: Rule | null = rule; link; link = link.next) links.push(link);
  return links;
}

/** All texts of one link that may hold macros. */
export function textsOf(link: Rule): ByteString[] {
  const { operator, message, logData, disruption, tags, actions } = link;
  const texts = [message, logData, disruption.location, ...tags].map((text) => text?.source ?? '');
  return [...texts, operator?.argument ?? '', ...actions.map(({ argument }) => argument)];
}

/** A `ctl` in parts. */
export interface ControlSwitch {
  /** Lower case, `ruleengine`. */
  readonly name: string;
  /** Present for removals. */
  readonly removal?: {
    readonly by: 'id' | 'tag' | 'msg';
    /** What names the rules. */
    readonly subject: ByteString;
    /** Upper case; absent where whole rules are removed. */
    readonly variable?: string;
  };
}

/** The switch that the action turns; null for other actions. */
export function controlOf({ definition, argument }: BoundAction): ControlSwitch | null {
  if (definition.name !== 'ctl') return null;
  const { left, right } = splitAssignment(argument);
  const name = left.trim().toLowerCase();
  const [, target, by] = /^ruleremove(target)?by(id|tag|msg)$/.exec(name) ?? [];
  if (by !== 'id' && by !== 'tag' && by !== 'msg') return { name };
  const value = right ?? '';
  if (target === undefined) return { name, removal: { by, subject: value } };
  const split = value.indexOf(';');
  const [, variable = ''] = /^\s*'?([A-Z_]*)/i.exec(value.slice(split + 1)) ?? [];
  const subject = unquote(value.slice(0, split).trim());
  return { name, removal: { by, subject, variable: variable.toUpperCase() } };
}
