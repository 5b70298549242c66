/** The timing of detectors: values of a request in, findings out, without rules. */

import { detect } from '../../engine/detect/detect.ts';
import type { DetectedValue } from '../../engine/detect/detection.ts';
import type { MicroGroup, MicroTask } from './group.ts';

const callsPerRun = 64;
/** Requests that differ, so that no text comes twice in a row. */
const variants = 256;

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

/** Requests of four sorts. */
export function detectionGroup(): MicroGroup {
  return {
    name: 'detection',
    title: 'Detectors on the values of one request',
    tasks: [
      task('a path', () => [value('path', '/index.html')]),
      task('six plain arguments', () => plain.map((text) => value('args.a', text))),
      task('a form of 12 texts', formOf),
      task('JSON of 12 objects in one value', jsonOf),
    ],
  };
}

function task(name: string, make: (at: number) => DetectedValue[]): MicroTask {
  const requests = Array.from({ length: variants }, (_, at) => make(at));
  for (const values of requests) {
    if (detect(values).leaves.length > 0) throw new Error(`${name}: found something`);
  }
  let at = 0;
  const run = (): void => {
    for (let i = 0; i < callsPerRun; i++) detect(requests[at++ % variants]!);
  };
  return { name, run, calls: callsPerRun };
}
