/** Reads which tests a source declares, and which cases its tables name. Runs no test. */

import ts from 'typescript';

/** One declared test. */
export interface DeclaredTest {
  /** Titles of the groups around it and its own, as the source has them, joined by ` > `. */
  readonly title: string;
  /** Whether it proves nothing: skipped, left for later, meant to fail, or in such a group. */
  readonly idle: boolean;
}

interface Declaration {
  readonly kind: 'group' | 'test';
  readonly modifiers: readonly string[];
}

const groups = new Set(['describe', 'suite']);
const tests = new Set(['test', 'it']);
/** `skipIf` and `runIf` are none of these: they say what a test needs. */
const idleModifiers = new Set(['skip', 'todo', 'fails']);

/** Every test that a source declares; those of a table once, by the title that stands there. */
export function declaredTests(path: string, text: string): DeclaredTest[] {
  const found: DeclaredTest[] = [];
  const visit = (node: ts.Node, above: readonly string[], idleAbove: boolean): void => {
    const declaration = ts.isCallExpression(node) ? declarationOf(node.expression) : undefined;
    const title = ts.isCallExpression(node) ? titleOf(node.arguments[0]) : undefined;
    if (declaration === undefined || title === undefined) {
      node.forEachChild((child) => visit(child, above, idleAbove));
      return;
    }
    const titles = [...above, title];
    const idle = idleAbove || declaration.modifiers.some((one) => idleModifiers.has(one));
    if (declaration.kind === 'test') found.push({ title: titles.join(' > '), idle });
    else node.forEachChild((child) => visit(child, titles, idle));
  };
  visit(parse(path, text), [], false);
  return found;
}

/** Strings and names of members that stand in a source: what the cases of its tables are called. */
export function textsOf(path: string, text: string): Set<string> {
  if (path.endsWith('.jsonl')) return textsOfLines(text);
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.add(node.text);
    if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) found.add(node.name.text);
    node.forEachChild(visit);
  };
  visit(parse(path, text));
  return found;
}

/** The texts of tables that stand in a file of JSON lines: `rule` and the like. */
function textsOfLines(text: string): Set<string> {
  const lines = text.split('\n').filter((line) => line !== '');
  const values = lines.flatMap((line) => Object.values(JSON.parse(line) as object) as unknown[]);
  return new Set(values.filter((value) => typeof value === 'string'));
}

/** Files of ours that a source imports, or reads as a table beside it, from the root. */
export function importsOf(path: string, text: string): string[] {
  const { importedFiles } = ts.preProcessFile(text);
  const tables = [...text.matchAll(/new URL\('([\w./-]+\.jsonl)', import\.meta\.url\)/g)];
  return [
    ...importedFiles.map(({ fileName }) => fileName),
    ...tables.map(([, name]) => `./${name}`),
  ]
    .filter((name) => name.startsWith('.'))
    .map((name) => new URL(name, `file:///${path}`).pathname.slice(1));
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
}

/** What `test`, `test.each(rows)`, `describe.skipIf(x).each(rows)` and the like declare. */
function declarationOf(called: ts.Expression): Declaration | undefined {
  const modifiers: string[] = [];
  for (let at = called; ;) {
    if (ts.isIdentifier(at)) {
      if (groups.has(at.text)) return { kind: 'group', modifiers };
      return tests.has(at.text) ? { kind: 'test', modifiers } : undefined;
    }
    if (ts.isPropertyAccessExpression(at)) {
      modifiers.push(at.name.text);
      at = at.expression;
    } else if (ts.isCallExpression(at)) at = at.expression;
    else if (ts.isTaggedTemplateExpression(at)) at = at.tag;
    else return undefined;
  }
}

/** A title as it stands in the source; undefined where it is made while tests are collected. */
function titleOf(node: ts.Expression | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : undefined;
}
