/**
 * What is around an attack must not hide it: payloads of labelled attacks, alone and in forms, and
 * the share of those that the score refuses alone which it refuses in each form.
 */

import { startDice } from '../worst/search.ts';
import { markdownTable } from '../report/table.ts';
import { formatShare, wilson } from './intervals.ts';
import type { LabelledRequest } from './requests.ts';

/** A payload and the class of its request. */
export interface Payload {
  readonly kind: string;
  readonly text: string;
}

/** Refused in one form of those that are refused alone. */
export interface FormFigures {
  readonly form: string;
  readonly refused: number;
  readonly count: number;
  readonly lost: readonly Payload[];
}

/** The longest argument of each attack's query, some of each class, chosen by a seed. */
export function samplePayloads(
  requests: readonly LabelledRequest[],
  perClass: number,
  seed: number,
): Payload[] {
  const classes = new Map<string, Payload[]>();
  for (const { attack, source, kind, wire } of requests) {
    const text = attack ? longestArgument(wire) : '';
    if (text.length < 2) continue;
    const name = `${source} ${kind}`;
    const list = classes.get(name) ?? [];
    if (!list.some((one) => one.text === text)) list.push({ kind: name, text });
    classes.set(name, list);
  }
  const dice = startDice(seed);
  return [...classes.values()].flatMap((list) => {
    const left = [...list];
    const count = Math.min(perClass, left.length);
    return Array.from({ length: count }, () => left.splice(dice(left.length), 1)[0]!);
  });
}

/** The longest argument of a query, decoded as forms are, as bytes. */
export function longestArgument(wire: Buffer): string {
  const query = /^\S+ [^?\s]*\?([^\s#]*)/.exec(wire.toString('latin1', 0, 16_384))?.[1] ?? '';
  const values = query.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
  const longest = values.reduce((most, one) => (one.length > most.length ? one : most), '');
  return longest
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)));
}

/** Figures by form. `refuses` says whether the score refuses a value. */
export function judgeForms(
  payloads: readonly Payload[],
  forms: Readonly<Record<string, (text: string) => string>>,
  refuses: (value: string) => boolean,
): FormFigures[] {
  const alone = payloads.filter(({ text }) => refuses(text));
  return Object.entries(forms).map(([form, make]) => {
    const lost = alone.filter(({ text }) => !refuses(make(text)));
    return { form, count: alone.length, refused: alone.length - lost.length, lost };
  });
}

/** The figures for people. */
export function formsTable(figures: readonly FormFigures[]): string {
  const rows = figures.map(({ form, count, refused }) => {
    return [form, String(count), formatShare(wilson(refused, count))];
  });
  return markdownTable(['form', 'refused alone', 'of those in the form'], rows);
}
