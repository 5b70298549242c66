/**
 * Bounds what a regular expression of a rule may grow to when its counts are written out: engines
 * refuse or choke on nested counts, and then no request could be inspected. An upper bound, found
 * without compiling anything. Pure.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { patternLimits } from '../../limits/resource-limits.ts';
import type { Directive } from '../../../engine/rules/language/ast.ts';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';
import { writtenPatterns } from '../../../engine/rules/language/written-patterns.ts';

/** As writtenProblem, for the text of rules. */
export function seclangProblem(text: ByteString, linesBefore = 0): string | null {
  return writtenProblem(parseSecLang(text, 'rules').directives, linesBefore);
}

/**
 * The first pattern of rules that grows too much, and where it stands; or null. `linesBefore`:
 * lines that the caller did not write.
 */
export function writtenProblem(directives: readonly Directive[], linesBefore = 0): string | null {
  for (const { pattern, line, column, ruleId } of writtenPatterns(directives)) {
    const problem = patternProblem(pattern);
    if (problem === null) continue;
    const rule = ruleId === '' ? '' : `rule ${ruleId}: `;
    return `line ${line - linesBefore}, column ${column}: ${rule}the pattern ${problem}`;
  }
  return null;
}

/** What speaks against a pattern, or null. Cost: linear in its length. */
export function patternProblem(pattern: string): string | null {
  const { sizeMax, countMax, depthMax } = patternLimits;
  const reader = new Reader(pattern);
  const size = reader.alternatives(0);
  if (reader.tooDeep) return `nests groups deeper than ${depthMax} levels`;
  if (reader.count > countMax) return `repeats more than ${countMax} times`;
  if (size <= sizeMax) return null;
  return `grows to ${shown(size)} parts when its counts are written out; at most ${sizeMax}`;
}

function shown(size: number): string {
  return size >= 1e6 ? 'more than a million' : String(Math.round(size));
}

/** Reads as much of the syntax as sizes need; what is no valid pattern, the engine refuses. */
class Reader {
  count = 0;
  tooDeep = false;
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Size of a list of alternatives, up to its closing bracket or the end. */
  alternatives(depth: number): number {
    let size = 0;
    while (this.at < this.text.length && !(depth > 0 && this.text[this.at] === ')')) {
      const one = this.atom(depth);
      size += one * this.times();
    }
    return size;
  }

  private atom(depth: number): number {
    const sign = this.text[this.at++];
    if (sign === '\\') {
      if (this.text[this.at] === 'Q') {
        const end = this.text.indexOf('\\E', this.at);
        const length = (end < 0 ? this.text.length : end) - this.at;
        this.at = end < 0 ? this.text.length : end + 2;
        return length;
      }
      this.at++;
      return 1;
    }
    if (sign === '[') {
      this.skipSet();
      return 1;
    }
    if (sign !== '(') return 1;
    if (depth >= patternLimits.depthMax) {
      this.tooDeep = true;
      this.at = this.text.length;
      return 1;
    }
    const size = this.alternatives(depth + 1);
    this.at++;
    return size + 1;
  }

  private skipSet(): void {
    if (this.text[this.at] === '^') this.at++;
    if (this.text[this.at] === ']') this.at++;
    while (this.at < this.text.length && this.text[this.at] !== ']') {
      if (this.text[this.at] === '\\') this.at++;
      else if (this.text.startsWith('[:', this.at)) {
        const end = this.text.indexOf(':]', this.at);
        if (end > 0) this.at = end + 1;
      }
      this.at++;
    }
    this.at++;
  }

  /** How often the atom before is written out: by its counts; stars and pluses are loops. */
  private times(): number {
    let times = 1;
    for (;;) {
      const sign = this.text[this.at];
      if (sign === '*' || sign === '+' || sign === '?') {
        this.at++;
        continue;
      }
      if (sign !== '{') return times;
      const count = /^\{(\d*)(,?)(\d*)\}/.exec(this.text.slice(this.at, this.at + 32));
      if (count === null || (count[1] === '' && count[3] === '')) return times;
      this.at += count[0].length;
      const most = Math.max(Number(count[1]), Number(count[3]));
      this.count = Math.max(this.count, most);
      times *= Math.max(1, most);
    }
  }
}
