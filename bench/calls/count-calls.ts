/**
 * Puts a call of the recorder at the beginning of every function of a TypeScript source, and counts
 * what was recorded. Pure.
 */

import ts from 'typescript';

/** One function that may be entered. */
export interface CountedFunction {
  /** Path of its source below the root. */
  readonly file: string;
  /** Its name, or '(anonymous)'. */
  readonly name: string;
  readonly line: number;
}

/** What one piece of work passed. */
export interface CallCounts {
  /** Calls of counted functions. */
  readonly calls: number;
  /** Different functions. */
  readonly functions: number;
  /** Different files. */
  readonly files: number;
  /** How often a call led back into a file that had been left since it was first entered. */
  readonly returns: number;
}

/** The name under which the recorder stands in every thread. */
export const recorderName = '__enter';

/** The source with a call at the beginning of each function; adds these to `known`. */
export function instrument(file: string, text: string, known: CountedFunction[]): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const inserts: { at: number; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const body = node.body as ts.Node;
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const call = `${recorderName}(${known.length})`;
      known.push({ file, name: nameOf(node), line: line + 1 });
      if (ts.isBlock(body)) inserts.push({ at: body.getStart() + 1, text: `${call};` });
      else {
        inserts.push({ at: body.getStart(), text: `(${call}, ` });
        inserts.push({ at: body.getEnd(), text: ')' });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let instrumented = text;
  // Of two at one place, the outer one was found first.
  for (const { at, text: added } of inserts.toSorted((one, other) => other.at - one.at)) {
    instrumented = instrumented.slice(0, at) + added + instrumented.slice(at);
  }
  return instrumented;
}

function nameOf(node: ts.Node): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const named = node as ts.Node & { readonly name?: ts.Node };
  if (named.name !== undefined) return named.name.getText();
  const { parent } = node;
  const isNamed = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return isNamed ? parent.name.getText() : '(anonymous)';
}

/** Counts what was entered, in order. Shape: indexes of `known`. */
export function countCalls(
  entered: readonly number[],
  known: readonly CountedFunction[],
): CallCounts {
  const files = new Set<string>();
  let at = '';
  let returns = 0;
  for (const index of entered) {
    const { file } = known[index]!;
    if (file !== at && files.has(file)) returns++;
    files.add(file);
    at = file;
  }
  return {
    calls: entered.length,
    functions: new Set(entered).size,
    files: files.size,
    returns,
  };
}
