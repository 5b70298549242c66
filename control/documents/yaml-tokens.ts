/** Counts what a YAML text holds by its tokens, before a parser sees it. Pure. */

import { yamlLimits } from '../limits/resource-limits.ts';

/** What there is too much of, where, and in which document. */
export interface TokenFault {
  readonly at: number;
  readonly problem: string;
  readonly document: number;
}

const { tokensMax, keysMax, aliasesMax, depthMax, documentsMax } = yamlLimits;

/** Marks of the library's lexer that stand for no text; the last says that a scalar follows. */
const scalarMark = '\u001f';
const marks = new Set(['\u0002', '\u0018', scalarMark]);
const spaces = /^[ \t]+$/;

/** A line whose nesting later lines may be inside of. */
interface Level {
  readonly indent: number;
  /** Itself, and each `- ` or `? ` on it. */
  levels: number;
}

/** Counts tokens as they come. */
class TokenCount {
  documents = 0;
  private tokens = 0;
  private keys = 0;
  private aliases = 0;
  private flowDepth = 0;
  private open: Level[] = [];
  private indent = 0;
  private atLineStart = true;
  private separated = false;

  /** What the token is too much of; null for nothing. */
  take(token: string, isScalar: boolean): string | null {
    if (++this.tokens > tokensMax) return `holds more than ${tokensMax} tokens`;
    if (token.endsWith('\n')) {
      this.atLineStart = true;
      this.indent = 0;
      if (!isScalar) return null;
    } else if (spaces.test(token)) {
      if (this.atLineStart) this.indent = token.length;
      return null;
    }
    if (token.startsWith('#') && !isScalar) return null;
    const opens = this.atLineStart && !token.endsWith('\n');
    if (opens) this.openLine();
    const problem = isScalar ? null : this.takeIndicator(token);
    return problem ?? (opens ? this.depthProblem() : null);
  }

  private openLine(): void {
    this.atLineStart = false;
    if (this.documents === 0) this.documents = 1;
    if (this.flowDepth > 0) return;
    while ((this.open.at(-1)?.indent ?? -1) >= this.indent) this.open.pop();
    this.open.push({ indent: this.indent, levels: 1 });
  }

  private takeIndicator(token: string): string | null {
    if (token === '---') {
      if (this.separated) this.documents++;
      this.separated = true;
      this.open = [];
      this.flowDepth = 0;
    } else this.separated = true;
    if (this.documents > documentsMax) return `has more than ${documentsMax} documents`;
    if (token.startsWith('%') && !/^%YAML 1\.2\s*$/.test(token)) {
      return 'holds a directive: only %YAML 1.2 is read';
    }
    if (token === ':' && ++this.keys > keysMax) return `holds more than ${keysMax} keys`;
    if (token.startsWith('*') && ++this.aliases > aliasesMax) {
      return `holds more than ${aliasesMax} aliases`;
    }
    const line = this.open.at(-1);
    if (token === '[' || token === '{') this.flowDepth++;
    else if (token === ']' || token === '}') this.flowDepth = Math.max(0, this.flowDepth - 1);
    else if ((token === '-' || token === '?') && line !== undefined) line.levels++;
    else return null;
    return this.depthProblem();
  }

  /** A key and its list may stand at one indent: half of the levels are certain. */
  private depthProblem(): string | null {
    const depth = this.open.reduce((sum, { levels }) => sum + levels, this.flowDepth);
    return depth > 2 * depthMax ? `is nested deeper than ${depthMax} levels` : null;
  }
}

/** The first bound that the tokens pass; null for none. Notes each line's begin on the way. */
export function tokenFault(
  tokens: Iterable<string>,
  noteLine: (offset: number) => void,
): TokenFault | null {
  const count = new TokenCount();
  let at = 0;
  let isScalar = false;
  noteLine(0);
  for (const token of tokens) {
    if (marks.has(token)) {
      isScalar = token === scalarMark;
      continue;
    }
    const problem = count.take(token, isScalar);
    if (problem !== null) return { at, problem, document: Math.max(1, count.documents) };
    isScalar = false;
    for (let line = token.indexOf('\n'); line >= 0; line = token.indexOf('\n', line + 1)) {
      noteLine(at + line + 1);
    }
    at += token.length;
  }
  return null;
}
