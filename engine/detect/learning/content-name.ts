/** The name and path under which values are content, whatever numbers are in them. Pure. */

import { looksVariable, variableSegment } from '../../../base/endpoint-tree.ts';

/** Longest name and path that are learned, characters. */
const nameCharsMax = 128;
const pathCharsMax = 256;

/** Variables whose values can be content; names of arguments and paths are the sender's choice. */
const learnable = /^(?:ARGS|REQUEST_COOKIES|REQUEST_HEADERS|FILES):.|^(?:XML|REQUEST_BODY)$/;

/** A name of a value without the numbers of lists: `ARGS:json.blocks.*.text`. */
export function contentName(name: string): string {
  return name.includes('.') || name.includes('[') ? name.replace(numbers, '$1*') : name;
}

/** Rules name items of JSON lists `array_0`. */
const numbers = /([.[])(?:array_)?\d{1,9}(?=[.\]]|$)/g;
/** At the end of a name: any member. */
const anyMember = '**';

/** Whether a value is the one that a rule names; `**` at its end takes what the rest begins. */
export function namesValue(rule: string, name: string): boolean {
  return rule.endsWith(anyMember) ? name.startsWith(rule.slice(0, -2)) : rule === name;
}

/** Whether a value of this name may be learned. */
export function isLearnable(name: string): boolean {
  return name.length <= nameCharsMax && learnable.test(name) && !/[^\x20-\xff]|\x7f/.test(name);
}

/**
 * The path of a target where it has one reading only; null where servers may read it in two ways.
 * What lets something pass holds for plain paths alone.
 */
export function plainPath(target: string): string | null {
  const end = target.search(/[?#]/);
  const path = end < 0 ? target : target.slice(0, end);
  return path.length <= pathCharsMax && plain.test(path) && !unclear.test(path) ? path : null;
}

const plain = /^\/[\w.~!$&'()*+,=:@/-]*$/;
const unclear = /\/\/|\/\.{1,2}(?:\/|$)/;

/** The path with `{value}` for segments that look like identifiers. */
export function pathPattern(path: string): string {
  return path
    .split('/')
    .map((segment) => (looksVariable(segment) ? variableSegment : segment))
    .join('/');
}

/**
 * Whether a path is one of a rule: its segment `*` takes any one, `{value}` one that looks like an
 * identifier, `**` at its end whatever follows.
 */
export function takesPath(rule: readonly string[], path: readonly string[]): boolean {
  const open = rule.at(-1) === anyMember;
  const own = open ? rule.length - 1 : rule.length;
  if (open ? path.length < own : path.length !== own) return false;
  for (let at = 0; at < own; at++) {
    const wanted = rule[at]!;
    const segment = path[at]!;
    if (wanted === segment || (wanted === '*' && segment !== '')) continue;
    if (wanted === variableSegment && looksVariable(segment)) continue;
    return false;
  }
  return true;
}
