/** What became of each directive of an imported set-up. Plain data: exactly one fate each. */

import { decodeUtf8 } from '../../../../base/byte-string.ts';
import type { ActionExpression, Directive } from '../../../../engine/rules/language/ast.ts';
import type { SourcePlace } from './source-map.ts';

/** `refused` is what the policy lacks; `ignored` needs no place here. */
export type Fate = 'honored' | 'ignored' | 'refused';

/** One directive and its fate. */
export interface ReportEntry {
  readonly file: string;
  readonly line: number;
  /** Of what is refused where that is known, else of the directive. */
  readonly column: number;
  /** For people: the name and what tells it from others. */
  readonly directive: string;
  readonly fate: Fate;
  /** Where it lives now, or the reason. */
  readonly note: string;
}

/** A fate without the place that it is about. */
export interface Verdict {
  readonly fate: Fate;
  readonly note: string;
  /** What exactly is refused, where that is known. */
  readonly place?: SourcePlace;
}

/** The directive lives on at `note`. */
export const honored = (note: string): Verdict => ({ fate: 'honored', note });
/** Nothing is lost by leaving it out; `note` says why. */
export const ignored = (note: string): Verdict => ({ fate: 'ignored', note });
/** Something is lost; `note` says why and what to do instead. */
export const refused = (note: string): Verdict => ({ fate: 'refused', note });
/** As `refused`, for a part of the directive or of its chain. */
export const refusedAt = ({ file, line, column }: SourcePlace, note: string): Verdict => ({
  fate: 'refused',
  note,
  place: { file, line, column },
});

/** The entry of a directive. */
export function entryOf(directive: Directive, { fate, note, place }: Verdict): ReportEntry {
  const { file, line, column, endLine } = directive.span;
  const label = { directive: decodeUtf8(labelOf(directive)), fate };
  if (place === undefined) return { file, line, column, ...label, note };
  const inside = place.file === file && place.line >= line && place.line <= endLine;
  if (inside) return { ...place, ...label, note };
  const chain = `its chain is refused at ${place.file}:${place.line}:${place.column}: ${note}`;
  return { file, line, column, ...label, note: chain };
}

/** The value of the last action of this name; undefined when there is none. */
export function actionValue(
  actions: readonly ActionExpression[],
  name: string,
): string | undefined {
  return actions.findLast((one) => one.name.text.toLowerCase() === name)?.value?.text;
}

function labelOf(directive: Directive): string {
  const name = directive.name.text;
  switch (directive.kind) {
    case 'SecRule':
    case 'SecAction': {
      const id = actionValue(directive.actions, 'id');
      return id === undefined ? name : `${name} ${id}`;
    }
    case 'SecMarker':
      return `${name} ${directive.label.text}`;
    case 'SecRuleRemoveById':
      return `${name} ${directive.ids.map(({ text }) => text).join(' ')}`;
    case 'SecRuleRemoveByTag':
    case 'SecRuleRemoveByMsg':
    case 'Include':
      return `${name} ${directive.pattern.text}`;
    case 'SecRuleUpdateTargetById':
    case 'SecRuleUpdateTargetByTag':
    case 'SecRuleUpdateTargetByMsg':
    case 'SecRuleUpdateActionById':
    case 'SecRuleUpdateOperatorById':
      return `${name} ${directive.subject.text}`;
    case 'Config':
      return [name, ...directive.arguments.map(({ text }) => text)].join(' ').slice(0, 100);
    default:
      return name;
  }
}
