/**
 * Runs one row of a SecLang unit table (a transformation or an operator with its expected
 * result) against the catalog. Rows are handed in; it reads no file.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { systemClock } from '../../../../base/clock.ts';
import type { RuleCatalog } from '../../features/catalog.ts';
import { parseMacros } from '../../transaction/macro.ts';
import { Transaction } from '../../transaction/transaction.ts';
import type { BindContext, FeatureDefinition } from '../../transaction/types.ts';

/** A row as the corpus writes it. */
export interface UnitRow {
  readonly kind: 'transformation' | 'operator';
  readonly name: string;
  readonly title: string;
  readonly param?: string | null;
  readonly param_file_b64?: string;
  readonly input_b64: string;
  readonly output_b64?: string;
  readonly ret?: number;
  readonly re_groups?: readonly string[];
  /** A raw NUL in the source: the C runner cuts the input there. */
  readonly json_nul?: boolean;
  readonly ambiguous_escape?: boolean;
}

/** What came of a row. */
export interface UnitOutcome {
  readonly result: 'pass' | 'fail';
  /** What was expected and what came, or why a row passes with another reading of its source. */
  readonly detail: string;
}

const passed: UnitOutcome = { result: 'pass', detail: '' };

/** Runs one row. Errors: an unknown name is a failure of the row. */
export function runUnitRow(row: UnitRow, catalog: RuleCatalog): UnitOutcome {
  return row.kind === 'transformation'
    ? runTransformation(row, catalog)
    : runOperator(row, catalog);
}

function runTransformation(row: UnitRow, catalog: RuleCatalog): UnitOutcome {
  const definition = findByName(catalog.transformations, row.name);
  if (!definition) return failed(row, 'an unknown transformation');
  const input = readBytes(row.input_b64);
  const expected = readBytes(row.output_b64 ?? '');
  const output = definition.apply(input);
  // The "changed" flag of the C functions does not mean the same in all of them: bytes are judged.
  if (output === expected) return passed;
  // A NUL after a backslash is what a converter made of the escape `\0` of the first source.
  if (row.json_nul && definition.apply(input.replaceAll('\\\0', '\\0')) === expected) {
    return { result: 'pass', detail: `${row.title}: a NUL read as the escape \\0` };
  }
  // How the C runner reads a `\x` without hex digits in the expectation is not known.
  if (row.ambiguous_escape && dropEscape(output) === dropEscape(expected)) {
    return { result: 'pass', detail: `${row.title}: \\x without hex digits read as x` };
  }
  return failed(row, show(output), show(expected));
}

function dropEscape(text: ByteString): ByteString {
  return text.replaceAll('\\x', 'x');
}

function runOperator(row: UnitRow, catalog: RuleCatalog): UnitOutcome {
  const definition = findByName(catalog.operators, row.name);
  if (!definition) return failed(row, 'an unknown operator');
  const bound = definition.bind(encode(row.param ?? ''), bindContext(row, catalog));
  // An operator that cannot be loaded never fires.
  if ('failure' in bound) {
    return row.ret === 0 ? passed : failed(row, `refused: ${bound.failure}`);
  }
  const whole = readBytes(row.input_b64);
  const input = row.json_nul === true ? (whole.split('\0')[0] ?? '') : whole;
  const captures: ByteString[] = [];
  const matched = bound.evaluate(input, bareTransaction(), captures);
  bound.close?.();
  if (row.ret !== undefined && Number(matched) !== row.ret) {
    return failed(row, `ret ${Number(matched)}`, `ret ${row.ret}`);
  }
  // The table names the leading groups; a global search may find more after them.
  const groups = row.re_groups?.map(encode);
  if (groups?.some((group, i) => captures[i] !== group)) {
    return failed(row, JSON.stringify(captures), JSON.stringify(groups));
  }
  return passed;
}

function bindContext(row: UnitRow, catalog: RuleCatalog): BindContext {
  const findVariable: BindContext['findVariable'] = (name) => findByName(catalog.variables, name);
  return {
    file: '',
    pcreMatchLimit: 100_000,
    known: false,
    findVariable,
    parseMacros: (text) => parseMacros(text, findVariable),
    readDataFile: () => (row.param_file_b64 === undefined ? null : readBytes(row.param_file_b64)),
  };
}

/** Operators of the tables ask a transaction for nothing but its ports. */
function bareTransaction(): Transaction {
  const tx = new Transaction();
  tx.ports = { clock: systemClock, collections: null, geo: null, rbl: null, env: new Map() };
  return tx;
}

function findByName<T extends FeatureDefinition>(list: readonly T[], name: string): T | undefined {
  const wanted = name.toLowerCase();
  return list.find((entry) =>
    [entry.name, ...(entry.aliases ?? [])].some((known) => known.toLowerCase() === wanted),
  );
}

function readBytes(base64: string): ByteString {
  return Buffer.from(base64, 'base64').toString('latin1');
}

function encode(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function show(text: ByteString): string {
  return JSON.stringify(text);
}

function failed(row: UnitRow, got: string, expected = ''): UnitOutcome {
  const detail = `${row.title}: got ${got}${expected === '' ? '' : `, expected ${expected}`}`;
  return { result: 'fail', detail };
}
