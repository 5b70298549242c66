/** The search for exports without a docstring. Reads syntax only; no types are needed. */

import ts from 'typescript';
import type { SourceFile } from './source-files.ts';

/** `path:line name` of every exported declaration of `file` that no `/** ... *\/` precedes. */
export function undocumentedExports(file: SourceFile): string[] {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true);
  return tree.statements.flatMap((statement, index) => {
    if (!isExported(statement) || isOverloadBody(statement, tree)) return [];
    // The comment on what a file owns is no docstring of its first export.
    const above = file.text.startsWith('/**') && index === 0 ? 1 : 0;
    if (docCommentsBefore(statement, file.text) > above) return [];
    if (continuesGroup(statement, tree.statements[index - 1])) return [];
    const line = tree.getLineAndCharacterOfPosition(statement.getStart()).line + 1;
    return [`${file.path}:${line} ${nameOf(statement)}`];
  });
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some((one) => one.kind === ts.SyntaxKind.ExportKeyword)
  );
}

function docCommentsBefore(statement: ts.Statement, text: string): number {
  const comments = ts.getLeadingCommentRanges(text, statement.getFullStart()) ?? [];
  return comments.filter(({ pos }) => text.startsWith('/**', pos)).length;
}

/** Constants in adjacent lines share the comment above the first. */
function continuesGroup(statement: ts.Statement, before: ts.Statement | undefined): boolean {
  if (before === undefined || !ts.isVariableStatement(statement)) return false;
  return ts.isVariableStatement(before) && !statement.getFullText().startsWith('\n\n');
}

/** Overloads are documented on the first signature. */
function isOverloadBody(statement: ts.Statement, tree: ts.SourceFile): boolean {
  if (!ts.isFunctionDeclaration(statement) || statement.name === undefined) return false;
  const name = statement.name.text;
  const first = tree.statements.find(
    (one) => ts.isFunctionDeclaration(one) && one.name?.text === name,
  );
  return first !== statement;
}

function nameOf(statement: ts.Statement): string {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((one) => one.name.getText()).join(', ');
  }
  const named = statement as ts.Statement & { name?: ts.Identifier };
  return named.name?.text ?? '(unnamed)';
}
