/** How results look: tables for people, JSON and YAML for programs. Notes go aside. */

import { commandLineLimits } from '../limits/command-limits.ts';
import type { NamedResource } from './named-resource.ts';

/** One table: column titles and rows of cells. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns that hold ids of resources, parted by blanks: names are shown in their place. */
  readonly ids?: Readonly<Record<string, readonly NamedResource[]>>;
  /** Characters of a cell; more is cut. The default suits tables of many columns. */
  readonly cellCharactersMax?: number;
}

/** How results look. */
export type OutputFormat = 'table' | 'json' | 'yaml';

/** Where a command writes. */
export interface Output {
  readonly format: OutputFormat;
  /** A result: the value for programs, the table for people. */
  result(value: unknown, table: Table): void;
  /** Lines for people; output for programs leaves them out. */
  line(text: string): void;
  /** Progress and remarks, on standard error in both formats. */
  note(text: string): void;
}

/** Writes results to `write` and notes to `writeNote`; `toYaml` is needed for YAML only. */
export function createOutput(
  format: OutputFormat,
  write: (text: string) => void = (text) => process.stdout.write(text),
  writeNote: (text: string) => void = (text) => process.stderr.write(text),
  toYaml: (value: unknown) => string = () => '',
  isTerminal: boolean = process.stdout.isTTY === true,
): Output {
  const render = (value: unknown, table: Table): string => {
    if (format === 'table') return renderTable(table, !isTerminal);
    const json = JSON.stringify(value, jsonValue, 2);
    return format === 'json' ? `${json}\n` : toYaml(JSON.parse(json));
  };
  return {
    format,
    result: (value, table) => write(render(value, table)),
    line: (text) => {
      if (format === 'table') write(text + '\n');
    },
    note: (text) => writeNote(text + '\n'),
  };
}

/** 64-bit integers are decimal strings in JSON, as the API writes them. */
function jsonValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/**
 * Left-aligned columns, two spaces apart; cells are cleaned of control characters, and cut unless
 * they are wanted `whole`: what reads a pipe or a file has room.
 */
export function renderTable(
  { columns, rows, cellCharactersMax }: Table,
  whole: boolean = false,
): string {
  const charactersMax = cellCharactersMax ?? commandLineLimits.cellCharactersMax;
  const shown = whole ? Infinity : charactersMax;
  const cells = [columns, ...rows].map((row) => row.map((cell) => cleanCell(cell, shown)));
  // One long cell does not widen every row.
  const widths = columns
    .map((_, index) => cells.reduce((most, row) => Math.max(most, row[index]?.length ?? 0), 0))
    .map((width) => Math.min(width, charactersMax));
  return cells
    .map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '))
    .map((line) => line.trimEnd() + '\n')
    .join('');
}

/** A cell may hold what an attacker sent: nothing of it reaches the terminal as a control code. */
function cleanCell(text: string, charactersMax: number): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
  return clean.length > charactersMax ? clean.slice(0, charactersMax - 1) + '…' : clean;
}
