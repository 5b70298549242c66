/**
 * Reads the sentences of refusals from a source text: the literals that stand where a refusal takes
 * its message. What a message takes from elsewhere is a value.
 */

import ts from 'typescript';

/** Which argument of each function that makes a refusal is its message. */
const messageArguments: Readonly<Record<string, number>> = {
  invalidField: 1,
  refusal: 1,
  AppError: 1,
  notFound: 0,
  requireOurs: 2,
};

const depthMax = 4;

/** The sentences, with `value` in place of each value; a choice gives one for each of its ways. */
export function refusalsIn(path: string, text: string, value: string): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const constants = constantsOf(tree);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    found.push(...sentencesAt(node, constants, value));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function sentencesAt(node: ts.Node, constants: Constants, value: string): string[] {
  if (ts.isPropertyAssignment(node)) {
    const name = node.name.getText();
    const texts = ['taken', 'noun'].includes(name)
      ? textsOf(node.initializer, constants, value)
      : [];
    return name === 'noun' ? texts.map(notFoundText) : texts;
  }
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return [];
  const name = node.expression.getText();
  if (!Object.hasOwn(messageArguments, name)) return [];
  const message = node.arguments?.[messageArguments[name]!];
  const texts = message === undefined ? [] : textsOf(message, constants, value);
  return ['notFound', 'requireOurs'].includes(name) ? texts.map(notFoundText) : texts;
}

const notFoundText = (noun: string): string => `No ${noun} with the id "a".`;

type Constants = ReadonlyMap<string, ts.Expression | null>;

/** What names stand for; null for those that are declared more than once. */
function constantsOf(tree: ts.SourceFile): Constants {
  const found = new Map<string, ts.Expression | null>();
  const visit = (node: ts.Node): void => {
    if (ts.isParameter(node) || ts.isBindingElement(node)) found.set(node.name.getText(), null);
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) {
      const { text } = node.name;
      found.set(text, found.has(text) ? null : (node.initializer ?? null));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The texts that an expression can be; none where no literal says it. */
function textsOf(node: ts.Expression, constants: Constants, value: string, depth = 0): string[] {
  const of = (one: ts.Expression): string[] => textsOf(one, constants, value, depth + 1);
  if (depth > depthMax) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return of(node.expression);
  if (ts.isConditionalExpression(node)) return [...of(node.whenTrue), ...of(node.whenFalse)];
  if (ts.isIdentifier(node)) {
    const constant = constants.get(node.text) ?? null;
    return constant === null ? [] : of(constant);
  }
  if (ts.isTemplateExpression(node)) {
    let texts = [node.head.text];
    for (const { expression, literal } of node.templateSpans) {
      const inner = of(expression);
      const choices = inner.length === 0 ? [value] : inner;
      texts = texts.flatMap((start) => choices.map((one) => start + one + literal.text));
    }
    return texts;
  }
  if (!ts.isBinaryExpression(node)) return [];
  const { kind } = node.operatorToken;
  if (kind === ts.SyntaxKind.PlusToken) {
    const ends = of(node.right);
    return of(node.left).flatMap((start) => ends.map((end) => start + end));
  }
  const either = [ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.BarBarToken];
  return either.includes(kind) ? [...of(node.left), ...of(node.right)] : [];
}
