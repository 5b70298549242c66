/** The table of requirements: how its rows are read, and what is wrong with one. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tidy/source-files.ts';
import { declaredTests, importsOf, textsOf, type DeclaredTest } from './titles.ts';

/** A sentence on the product, and the test that holds it. */
export interface Requirement {
  readonly id: string;
  readonly requirement: string;
  /** File of the test, from the root. */
  readonly file: string;
  /** Its title below those of its groups, as the source has them, joined by ` > `. */
  readonly title: string;
  /** The case of the test's table that is meant; a row without one means all of them. */
  readonly case?: string;
  /** File of that table, where it is not in the file of the test. */
  readonly table?: string;
}

const fields = new Set(['id', 'requirement', 'file', 'title', 'case', 'table']);

/** The rows of the table, one for each line. Errors: what is no row, with its line. */
export function readRequirements(text: string): Requirement[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line, at) => {
    const row = JSON.parse(line) as Record<string, unknown>;
    const wrong = Object.entries(row).filter(
      ([name, value]) => !fields.has(name) || typeof value !== 'string' || value === '',
    );
    const missing = ['id', 'requirement', 'file', 'title'].filter((name) => !(name in row));
    const names = [...wrong.map(([name]) => name), ...missing];
    if (names.length > 0) throw new Error(`line ${at + 1}: ${names.join(', ')}`);
    return row as unknown as Requirement;
  });
}

/** Sources by path; what is asked for twice is read once. */
export class Sources {
  private readonly texts = new Map<string, string>();
  private readonly tests = new Map<string, DeclaredTest[]>();
  private readonly named = new Map<string, Set<string>>();
  private readonly imports = new Map<string, string[]>();

  /** Text of a file; empty where there is none. */
  text(path: string): string {
    const file = join(root, path);
    return kept(this.texts, path, () => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
  }

  /** Tests that a file declares. */
  declared(path: string): DeclaredTest[] {
    return kept(this.tests, path, () => declaredTests(path, this.text(path)));
  }

  /** What the tables of a file may call their cases. */
  cases(path: string): Set<string> {
    return kept(this.named, path, () => textsOf(path, this.text(path)));
  }

  /** Whether one source imports another, at once or through others. */
  reaches(from: string, to: string): boolean {
    const seen = new Set([from]);
    for (const path of seen) {
      if (path === to) return true;
      for (const next of this.importsOf(path)) seen.add(next);
    }
    return false;
  }

  private importsOf(path: string): string[] {
    return kept(this.imports, path, () => importsOf(path, this.text(path)));
  }
}

/** Why nothing holds a requirement; undefined where its test does. */
export function faultOf(row: Requirement, sources: Sources): string | undefined {
  if (!row.file.endsWith('.test.ts')) return `${row.file} is no file of tests`;
  const found = sources.declared(row.file).filter(({ title }) => title === row.title);
  if (found.length === 0) return `${row.file} has no test "${row.title}"`;
  if (found.length > 1) return `${row.file} has ${found.length} tests "${row.title}"`;
  if (found[0]!.idle) return `"${row.title}" never runs`;
  const { table = row.file } = row;
  if (!sources.reaches(row.file, table)) return `${row.file} does not read ${table}`;
  if (row.case === undefined || sources.cases(table).has(row.case)) return undefined;
  return `${table} has no case "${row.case}"`;
}

function kept<T>(values: Map<string, T>, key: string, make: () => T): T {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
}
