/** How one resource looks to people: all that it has, by the field paths that masks use. */

import type { JsonValue } from '@bufbuild/protobuf';
import { commandLineLimits } from '../limits/command-limits.ts';
import type { Table } from './output.ts';

/**
 * Every field of a resource in its JSON form, a row each. Values of a list stand in one row, or in
 * as many as keep each of them whole; objects in a list have rows of their own.
 */
export function detailTable(resource: JsonValue): Table {
  return {
    columns: ['SETTING', 'VALUE'],
    rows: rowsOf('', resource),
    cellCharactersMax: commandLineLimits.detailCharactersMax,
  };
}

function rowsOf(path: string, value: JsonValue): string[][] {
  if (value === null || typeof value !== 'object') return [[path, String(value)]];
  if (!Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      rowsOf(path === '' ? name : `${path}.${name}`, member),
    );
  }
  const scalars = value.filter((item) => item === null || typeof item !== 'object');
  if (scalars.length < value.length) {
    return value.flatMap((item, index) => rowsOf(`${path}[${index}]`, item));
  }
  return inLines(scalars.map(String)).map((line, index) => [index === 0 ? path : '', line]);
}

/** Items with commas between, in lines that a terminal holds. */
function inLines(items: readonly string[]): string[] {
  const lines: string[] = [''];
  for (const item of items) {
    const last = lines.at(-1)!;
    const longer = last === '' ? item : `${last}, ${item}`;
    if (last !== '' && longer.length >= commandLineLimits.cellCharactersMax) lines.push(item);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
