/**
 * CRS cut into pieces that a policy may take or leave: one rule with its chain, a marker, a
 * setting. Says what names the pieces use. Draws nothing.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toByteString } from '../../base/byte-string.ts';
import type { Directive } from '../../engine/rules/language/ast.ts';
import { parseSecLang } from '../../engine/rules/language/parse.ts';
import { formatDirective } from '../../engine/rules/language/print.ts';

/** One rule file as texts that stand alone. */
export interface CrsFile {
  readonly name: string;
  readonly pieces: readonly string[];
}

/** Names that rules of a policy refer to. */
export interface Vocabulary {
  readonly ids: readonly number[];
  readonly tags: readonly string[];
  readonly messages: readonly string[];
  readonly markers: readonly string[];
  /** Lower case, without `tx.`. */
  readonly variables: readonly string[];
}

/** The rule files in `folder`, in order. */
export function readCrsFiles(folder: string): CrsFile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.conf'))
    .sort()
    .map((name) => ({ name, pieces: piecesOf(readFileSync(path.join(folder, name)), name) }));
}

/** The pieces of one file's text. */
export function piecesOf(bytes: Uint8Array, name: string): string[] {
  const pieces: string[] = [];
  let open = false;
  for (const directive of parseSecLang(toByteString(bytes), name).directives) {
    const text = formatDirective(directive);
    if (open) pieces.push(`${pieces.pop()}\n${text}`);
    else pieces.push(text);
    open = chains(directive);
  }
  return pieces;
}

function chains(directive: Directive): boolean {
  if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') return false;
  return directive.actions.some(({ name }) => name.text.toLowerCase() === 'chain');
}

/** What `pieces` name. */
export function vocabularyOf(pieces: readonly string[]): Vocabulary {
  const text = pieces.join('\n');
  return {
    ids: found(text, /\bid:'?(\d+)/g).map(Number),
    tags: found(text, /\btag:'?([^',"%\\]+)/g),
    messages: found(text, /\bmsg:'([^'"%\\]+)'/g),
    markers: found(text, /SecMarker "?([^"\s]+)/g),
    variables: found(text, /\btx[.:]([a-z][a-z0-9_]+)/gi).map((name) => name.toLowerCase()),
  };
}

function found(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))];
}
