/** The timing of detectors: values of a request in, findings out, without rules. */

import { detect } from '../../engine/detect/detect.ts';
import type { DetectedValue } from '../../engine/detect/detection.ts';
import type { MicroGroup, MicroTask } from './group.ts';

const callsPerRun = 64;
/** Requests that differ, so that no text comes twice in a row. */
const variants = 32;

const prose = `Please find the attached report and let me know what you think of it: the numbers for
  March are a bit lower than we had planned for this year. Thanks and best regards from all of us`;

/** A text of ordinary words, at least as long as asked for, another for each number. */
function textOf(bytes: number, number: number): string {
  const words = prose.split(/\s+/);
  let text = '';
  for (let at = number * 7; text.length < bytes; at += 3) text += `${words[at % words.length]!} `;
  return `${text}${number}`;
}

function value(path: string, text: string): DetectedValue {
  return { path, bytes: Buffer.from(text, 'latin1') };
}

const plain = ['red', '42', 'a-b', 'next', '2024-01-01', 'x_y'];

function formOf(at: number): DetectedValue[] {
  return Array.from({ length: 12 }, (_, field) => {
    return value(`args.f${field}`, textOf(20 + 6 * field, 12 * at + field));
  });
}

function jsonOf(at: number): DetectedValue[] {
  const items = Array.from({ length: 12 }, (_, id) => {
    const number = 12 * at + id;
    const url = `https://shop.example/p/${number}?a=1`;
    return { id, name: textOf(20, number), note: textOf(60, number), url };
  });
  return [value('args.data', JSON.stringify({ items }))];
}

/** Requests of four sorts; those called new have values that were never searched. */
export function detectionGroup(): MicroGroup {
  return {
    name: 'detection',
    title: 'Detectors on the values of one request',
    tasks: [
      task('a path', () => [value('path', '/index.html')]),
      task('a new path', () => [value('path', '/articles/of-000000')], true),
      task('six plain arguments', () => plain.map((text) => value('args.a', text))),
      task('a form of 12 texts', formOf),
      task('a form of 12 new texts', formOf, true),
      task('JSON of 12 objects in one value', jsonOf),
      task('new JSON of 12 objects in one value', jsonOf, true),
    ],
  };
}

function task(name: string, make: (at: number) => DetectedValue[], isNew = false): MicroTask {
  const requests = Array.from({ length: variants }, (_, at) => make(at));
  for (const values of requests) {
    if (detect(values).leaves.length > 0) throw new Error(`${name}: found something`);
  }
  let at = 0;
  const run = (): void => {
    for (let i = 0; i < callsPerRun; i++) {
      const values = requests[at % variants]!;
      if (isNew) for (const { bytes } of values) stamp(bytes, at);
      at++;
      detect(values);
    }
  };
  return { name, run, calls: callsPerRun };
}

/** Digits that make a value another one. */
const stampBytes = 6;

/** Writes a number over the last letters and digits of a value: texts keep their signs. */
function stamp(bytes: Uint8Array, number: number): void {
  let rest = number;
  let left = stampBytes;
  for (let at = bytes.length - 1; at >= 0 && left > 0; at--) {
    if (!isLetterOrDigit(bytes[at]!)) continue;
    bytes[at] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
    left--;
  }
}

function isLetterOrDigit(byte: number): boolean {
  const lower = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}
