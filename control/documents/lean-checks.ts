/**
 * Makes the text of checks shorter and faster. What they say stays: whether a value is valid, and
 * the keyword and the place in the schema of what is wrong first. Works on the text without its
 * literals, so that nothing that a document says is ever taken for code.
 */

/** What stands before the checks: how a check notes what is wrong and ends. */
export const leanPrologue =
  'const no=(check,schemaPath,keyword)=>{check.errors=[{schemaPath,keyword}];return false;};';

/** The compiler quotes with `"` only; its expressions hold no quotes. */
const literal = /"(?:[^"\\]|\\.)*"/g;

/** A literal that was set aside. */
const aside = /"(\d+)"/g;

/**
 * The same checks in fewer characters; '' stays. `code` is the compiler's text, with calls counted
 * and the prologue before it. Cost: some passes over the text.
 */
export function leanChecks(code: string): string {
  const literals: string[] = [];
  const bare = code.replaceAll(literal, (one) => `"${literals.push(one) - 1}"`);
  const brief = withQuickLengths(withoutOwnTests(withoutDetails(bare), literals));
  const functions = brief.split(/(?=function validate\d+\()/).map(withoutDeadCode);
  const text = withoutUnusedSchemas(functions.join(''));
  return text.replaceAll(aside, (_one, at: string) => narrow(literals[Number(at)]!));
}

/** In ASCII: engines keep it with one byte a character. */
function narrow(text: string): string {
  return text.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const errorObject = new RegExp(
  String.raw`\{instancePath(?::instancePath\+[^{}]*?)?,schemaPath:("\d+"),keyword:("\d+"),` +
    String.raw`params:\{[^{}]*\}(?:,propertyName:\w+)?\}`,
  'g',
);
const functionHead = new RegExp(
  String.raw`(function validate\d+)\(data, \{instancePath="\d+", parentData, parentDataProperty, ` +
    String.raw`rootData=data(?:, dynamicAnchors=\{\})?\}=\{\}\)`,
  'g',
);
const callArgument =
  /, \{instancePath(?::instancePath\+[^{}]*?)?,parentData[^{}]*?,rootData(,dynamicAnchors)?\}\)/g;

/**
 * Without the place in the value, and what else an error tells but keyword and place in the schema:
 * nobody reads it. The text as it was where a part of it is not what it was taken for.
 */
function withoutDetails(bare: string): string {
  const plain = bare
    .replaceAll(errorObject, '{schemaPath:$1,keyword:$2}')
    .replaceAll(functionHead, '$1(data)')
    .replaceAll(callArgument, ')');
  // Schemas with dynamic references hand their anchors on.
  if (!/instancePath|parentData|rootData|params|dynamicAnchors/.test(plain)) return plain;
  return bare;
}

/**
 * Without asking whether a property is the object's own: what is checked was made by JSON.parse or
 * has no prototype, and never holds undefined. But for the names that every object inherits.
 */
function withoutOwnTests(text: string, literals: readonly string[]): string {
  const own = namesOf(text, 'Object.prototype.hasOwnProperty');
  if (own === '') return text;
  const property = String.raw`(data\d*(?:\.([\w$]+)|\["(\d+)"\]))`;
  const call = String.raw`(?:${own})\.call\(data\d*, "(\d+)"\)`;
  const absent = new RegExp(String.raw`${property} === undefined\) \|\| \(!\(${call}\)\)`, 'g');
  const present = new RegExp(String.raw`${property} !== undefined && ${call}`, 'g');
  const nameOf = (at: string): string => JSON.parse(literals[Number(at)]!) as string;
  const lean =
    (end: string) =>
    (whole: string, read: string, plain: string | undefined, quoted: string, asked: string) => {
      const name = plain ?? nameOf(quoted);
      const inherited = name in Object.prototype;
      return inherited || name !== nameOf(asked) ? whole : `${read}${end}`;
    };
  return text
    .replaceAll(absent, lean(' === undefined)'))
    .replaceAll(present, lean(' !== undefined'));
}

/** Characters are counted only where the number of code units does not decide. */
function withQuickLengths(text: string): string {
  const length = namesOf(text, 'runtime.length');
  if (length === '') return text;
  const compared = new RegExp(String.raw`if\((${length})\((data\d*)\) ([<>]) (\d+)\)`, 'g');
  return text.replaceAll(
    compared,
    (_whole, count: string, data: string, sign: string, bound: string) => {
      const counted = `${count}(${data}) ${sign} ${bound}`;
      if (sign === '>') return `if(${data}.length > ${bound} && ${counted})`;
      const enough = 2 * Number(bound);
      return `if(${data}.length < ${bound} || (${data}.length < ${enough} && ${counted}))`;
    },
  );
}

/** Names of constants that stand for an expression, as alternatives of an expression. */
function namesOf(text: string, value: string): string {
  const constant = new RegExp(
    String.raw`const (func\d+) = ${value.replaceAll('.', String.raw`\.`)};`,
    'g',
  );
  return [...text.matchAll(constant)].map(([, name]) => name).join('|');
}

const emptyBranch =
  /(?<!else )if\((?:1|errors === (?:_errs\d+|0)|typeof data\d* == "\d+")\)\{\}(?! ?else)/g;

/** Without branches that do nothing, and variables that nobody reads. `text` has one function. */
function withoutDeadCode(text: string): string {
  let next = withoutNames(withoutErrorCounts(text));
  let before = '';
  while (next !== before) {
    before = next;
    next = next
      .replaceAll(/ ?else \{\}/g, '')
      .replaceAll(emptyBranch, '')
      .replaceAll(/(?<=[;{}])\{\}/g, '');
  }
  const used = countOf(next, /\b(?:_errs|vSchema)\d+\b/g);
  return next.replaceAll(/const (_errs\d+|vSchema\d+) = [\w.]+;/g, (whole, name: string) =>
    used.get(name) === 1 ? '' : whole,
  );
}

/** What follows a call of another check that failed. */
const failedCall = new RegExp(
  String.raw`\{vErrors = vErrors === null \? (validate\d+)\.errors : ` +
    String.raw`vErrors\.concat\(\1\.errors\);errors = vErrors\.length;\}`,
  'g',
);

/**
 * A function that returns at the first error has an error count of zero: what compares the count is
 * always true then.
 */
function withoutErrorCounts(text: string): string {
  const name = /^function (validate\d+)/.exec(text)?.[1];
  if (name === undefined) return text;
  const returning = text.replaceAll(failedCall, `{${name}.errors = $1.errors;return false;}`);
  // Alternatives count errors, and continue.
  const counts = /(?<![\w.])errors(?:\+\+| ?[+-]?= )/;
  if (counts.test(returning.replace('let errors = 0;', ''))) return text;
  const folded = returning
    .replaceAll('return errors === 0;', 'return true;')
    .replaceAll(/_errs\d+ === errors|errors === (?:_errs\d+|0)/g, '1')
    .replaceAll(/var valid\d+ = (?:1|true);/g, '')
    .replaceAll(/if\(!valid\d+\)\{break;\}/g, '')
    .replaceAll(/if\(valid\d+\)\{/g, 'if(1){');
  if (/\bvalid\d+\b/.test(folded)) return text;
  return folded.replaceAll(
    /(validate\d+)\.errors = \[\{schemaPath:("\d+"),keyword:("\d+")\}\];return false;/g,
    'return no($1,$2,$3);',
  );
}

/** Without the names of missing members, which only the details had. */
function withoutNames(text: string): string {
  const set = / && \((missing\d+) = "\d+"\)/g;
  const used = countOf(text, /\bmissing\d+\b/g);
  for (const [, name = ''] of text.matchAll(set)) used.set(name, (used.get(name) ?? 0) - 1);
  const bare = (name: string): boolean => used.get(name) === 1;
  return text
    .replaceAll(set, (whole, name: string) => (bare(name) ? '' : whole))
    .replaceAll(/let (missing\d+);/g, (whole, name: string) => (bare(name) ? '' : whole));
}

/** Without schemas that no function reads. */
function withoutUnusedSchemas(text: string): string {
  const used = countOf(text, /\bschema\d+\b/g);
  return text.replaceAll(/const (schema\d+) = [^;]*;/g, (whole, name: string) =>
    used.get(name) === 1 ? '' : whole,
  );
}

function countOf(text: string, names: RegExp): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [name] of text.matchAll(names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
