/**
 * Proof that checks of API documents and rules read multipart bodies alike: the same parts of what
 * all backends read alike, and nothing of what they read differently, also once bodies are changed
 * at random.
 */

import { expect, test } from 'vitest';
import { loadRequestBody } from '../rules/load/request-body.ts';
import { rowTexts, transactionFor } from '../rules/load/test-sample.ts';
import { SOURCE } from '../rules/transaction/values.ts';
import { readMediaType } from './media-type.ts';
import { readFormParts } from './multipart-parts.ts';
import {
  alikeRows,
  differentRows,
  type ClientRow,
} from '../rules/features/bodies/multipart-clients-table.ts';

const bytesOf = ({ body }: ClientRow): Buffer =>
  Buffer.from(body.replaceAll('|', '\r\n'), 'latin1');

/** `name=value` of fields, and names of parts that are files; sorted. */
interface Reading {
  readonly fields: readonly string[];
  readonly files: readonly string[];
}

const once = (names: readonly string[]): string[] => [...new Set(names)].toSorted();

/** Null where there is no one reading. */
function readByChecks(parameters: string, body: Buffer): Reading | null {
  const type = readMediaType(`multipart/form-data${parameters}`);
  if (type === null) return null;
  const read = readFormParts(body, type.boundary);
  if ('fault' in read) return null;
  const fields = read.parts.filter(({ isFile }) => !isFile);
  return {
    fields: fields.map(({ name, content }) => `${name}=${content.latin1Slice()}`).toSorted(),
    files: once(read.parts.filter(({ isFile }) => isFile).map(({ name }) => name)),
  };
}

/** As the rules 200002 to 200004 and 199402 decide. */
function readByRules(parameters: string, body: Buffer): Reading | null {
  const head = `POST / HTTP/1.1\r\nContent-Type: multipart/form-data${parameters}`;
  const tx = transactionFor(head, { inspectsUnparsed: true });
  loadRequestBody(tx, { bytes: body, truncated: false });
  const { bodyError, multipart } = tx;
  const { twoReadings, unmatchedBoundary, ambiguousPart } = multipart!;
  if (bodyError + twoReadings + ambiguousPart > 0 || unmatchedBoundary === 1) return null;
  // Text around the parts is inspected under no name.
  const fields = rowTexts(tx, SOURCE.argPost).filter((text) => !text.startsWith('='));
  const files = once(rowTexts(tx, SOURCE.file).map((text) => text.split('=', 1)[0]!));
  return { fields: fields.toSorted(), files };
}

test.each(alikeRows)('$title: read alike', (row) => {
  const read = readByChecks(row.parameters, bytesOf(row));
  expect(read?.fields).toContain('a=hello');
  expect(read).toEqual(readByRules(row.parameters, bytesOf(row)));
});

test.each(differentRows)('$title: breaks the document', (row) => {
  expect(readByChecks(row.parameters, bytesOf(row))).toBeNull();
  expect(readByRules(row.parameters, bytesOf(row))).toBeNull();
});

/** A line of a head whose name is no token of RFC 9110. */
const oddName = /\r\n[!-9;-~]*[^\r\n!#$%&'*+\-.0-9A-Z^_`a-z|~:][!-9;-~]*:/;

const seed = 20_261_127;
const changesMax = 8_000;
const pieces = [
  ...['\r\n', '\n', '\r', '--', '--B', '--B--', ' ', '\t', ':', ';', '"', 'B', ',', 'x', '\0'],
  ...['name="a"', 'filename="n"', 'Content-Disposition: form-data; name="z"', '\r\n\r\n', '\r\n '],
];

/** Deterministic numbers below a bound. */
function diceOf(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test(`${changesMax} changed bodies are read alike, seed ${seed}`, () => {
  const dice = diceOf(seed);
  const rows = [...alikeRows, ...differentRows];
  const different: string[] = [];
  let read = 0;
  for (let n = 0; n < changesMax; n++) {
    const row = rows[dice(rows.length)]!;
    const bytes = bytesOf(row);
    const at = dice(bytes.length);
    const cut = dice(2) === 0 ? 0 : dice(6);
    const piece = Buffer.from(pieces[dice(pieces.length)]!, 'latin1');
    const body = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + cut)]);
    const [checks, rules] = [readByChecks(row.parameters, body), readByRules(row.parameters, body)];
    if (checks !== null) read++;
    if (JSON.stringify(checks) === JSON.stringify(rules)) continue;
    // A body without parts is no form to a document.
    if (checks === null && rules?.fields.length === 0 && rules.files.length === 0) continue;
    // Express leaves such a part out, Go the whole body: rules inspect it, a document has none.
    if (checks === null && oddName.test(body.latin1Slice())) continue;
    const shown = JSON.stringify(body.latin1Slice());
    different.push(`${shown}: ${JSON.stringify(checks)}, rules ${JSON.stringify(rules)}`);
  }
  expect(different.slice(0, 10)).toEqual([]);
  expect(read).toBeGreaterThan(changesMax / 10);
});
