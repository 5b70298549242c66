/**
 * Decides whether what a backend read was inspected. Two texts are the same where they differ
 * in what rules decode or pass over: the encoding of characters, %XX, and white space around them.
 */

import type { Inspection } from './inspected.ts';
import type { Reading } from './request.ts';

/** What a backend reads and no rule sees, one line each. */
export function uninspected(reading: Reading, inspection: Inspection): string[] {
  if (inspection.refused) return [];
  const values = new Set(inspection.values.flatMap(spellings));
  values.delete('');
  const documents = inspection.documents.flatMap(spellings);
  const names = inspection.names.flatMap(spellings).map(asName);
  const others = [...names, ...values];
  const files = [...inspection.fileNames, ...inspection.names, ...inspection.values];
  const fileNames = files.flatMap(spellings);
  const found: string[] = [];
  for (const value of reading.values) {
    const texts = spellings(toText(value));
    // A byte order mark, for one.
    if (texts.some((text) => text === '' || text === '?' || values.has(text))) continue;
    // busboy encodes a value whose charset is "base64": what was sent is what attacks.
    if (texts.some((text) => values.has(fromBase64(text)))) continue;
    if (texts.some((text) => documents.some((all) => all.includes(text)))) continue;
    found.push(`value ${show(value)}`);
  }
  for (const name of reading.names) {
    const texts = spellings(toText(name)).map(asName);
    if (texts.some((text) => isIndex(text) || others.some((one) => one.includes(text)))) continue;
    found.push(`name ${show(name)}`);
  }
  for (const name of reading.fileNames) {
    const texts = spellings(toText(name));
    if (texts.some((text) => text === '' || fileNames.some((one) => one.includes(text)))) continue;
    if (texts.some((text) => fileNames.includes(fromBase64(text)))) continue;
    found.push(`file name ${show(name)}`);
  }
  return found;
}

/**
 * What is wrong where several backends read one request; null where nothing is. Those that find
 * nothing have no reading. `complete`: no backend is missing, and the request is written as the
 * RFCs allow.
 */
export function disagreement(
  readings: readonly Reading[],
  inspection: Inspection,
  complete: boolean,
): string | null {
  const found = readings.map(summary).filter((one) => one !== '');
  const distinct = new Set(found);
  if (distinct.size > 1) {
    return inspection.refused ? null : `passes, and is read as ${[...distinct].join(' and as ')}`;
  }
  if (!complete || distinct.size === 0 || found.length < readings.length) return null;
  return inspection.refusedByOwnRules ? 'is refused, and all read it alike' : null;
}

/** Names, values and file names without their order; '' for none. */
function summary({ names, values, fileNames }: Reading): string {
  if (names.length + values.length + fileNames.length === 0) return '';
  return JSON.stringify([names, values, fileNames].map((list) => list.map(toText).sort()));
}

const toText = (bytes: Buffer): string => bytes.toString('latin1');
const show = (bytes: Buffer): string => JSON.stringify(toText(bytes)).slice(0, 300);

/** What base64 stands for; '' for another text. */
function fromBase64(text: string): string {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? toAscii(bytes.toString('latin1')) : '';
}

/** PHP writes `_` for what its variables cannot be named with. */
const asName = (text: string): string =>
  text.replaceAll(/[\s.[\]+]/g, '_').replaceAll(/^_+|_+$/g, '');
/** Lists are numbered by the backend. */
const isIndex = (name: string): boolean => /^\d*$/.test(name);

/**
 * A byte string as backends may spell it: as sent, decoded once more, or with blanks for `+`. What
 * is beyond ASCII counts as one character, as does the reference to one that the grammar draws:
 * they differ on encodings, attacks are ASCII.
 */
function spellings(bytes: string): string[] {
  const plain = toAscii(bytes);
  if (!plain.includes('%') && !plain.includes('+')) return [plain];
  return [plain, toAscii(unescape(bytes)), toAscii(bytes.replaceAll('+', ' '))];
}

function toAscii(text: string): string {
  return trim(text.replaceAll(/(?:[\x80-\xff]|&eacute;)+/g, '?').replaceAll(/\s/g, ' '));
}

function unescape(text: string): string {
  const spaces = text.replaceAll('+', ' ');
  return spaces.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Without the control characters and blanks at both ends. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(start, end);
}
