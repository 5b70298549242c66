/**
 * The parts of a source that people read: comments and strings of scripts, Markdown and data files
 * whole, comments of everything else. Identifiers are not among them.
 */

import ts from 'typescript';
import type { SourceFile } from './source-files.ts';

/** One line of text and its place. */
export interface TextLine {
  readonly line: number;
  readonly text: string;
}

const script = /\.(tsx?|mjs|cjs)$/;
const native = /\.(cc|h|css|proto)$/;

/**
 * The text of a file, line by line; each line carries the first words of the next, because a phrase
 * may run over two.
 */
export function textOf(file: SourceFile): TextLine[] {
  if (script.test(file.path)) return joined(scriptText(file));
  if (native.test(file.path)) return joined(commentLines(file));
  return joined(file.lines.map((text, index) => ({ line: index + 1, text })));
}

/** Each line with the first words of the line below, so that a wrapped phrase is found, too. */
function joined(lines: readonly TextLine[]): TextLine[] {
  return lines.map(({ line, text }, index) => {
    const below = lines[index + 1];
    const follows = below !== undefined && below.line === line + 1 ? below.text : '';
    const words = follows.replace(/^\s*(\*|\/\/|\|)?\s*/, '').split(/\s+/, 3);
    return { line, text: `${text} ${words.join(' ')}` };
  });
}

function commentLines({ lines }: SourceFile): TextLine[] {
  return lines.flatMap((text, index) => {
    const at = text.search(/\/\/|\/\*|^\s*\*/);
    return at < 0 ? [] : [{ line: index + 1, text: text.slice(at) }];
  });
}

/** Comments, literals and templates of a script, by the compiler's own scanner. */
function scriptText(file: SourceFile): TextLine[] {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true);
  const found = new Map<number, string>();
  const add = (from: number, to: number): void => {
    const first = tree.getLineAndCharacterOfPosition(from).line;
    for (const [index, text] of file.text.slice(from, to).split('\n').entries()) {
      const line = first + index + 1;
      found.set(line, `${found.get(line) ?? ''} ${text}`);
    }
  };
  const seen = new Set<number>();
  const visit = (node: ts.Node): void => {
    const comments = [
      ...(ts.getLeadingCommentRanges(file.text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(file.text, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of comments) {
      if (!seen.has(pos)) add(pos, end);
      seen.add(pos);
    }
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node) ||
      ts.isJsxText(node) ||
      ts.isRegularExpressionLiteral(node);
    if (isText) add(node.getStart(), node.getEnd());
    for (const child of node.getChildren(tree)) visit(child);
  };
  visit(tree);
  return [...found].map(([line, text]) => ({ line, text })).sort((a, b) => a.line - b.line);
}
