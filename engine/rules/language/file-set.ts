/**
 * Rule and data files that are held in memory: how a name or pattern written in one of them
 * finds others. Reads no disk; whoever loads a rule set decides what is in it.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { ReadFiles, SourceFile } from './include.ts';

/** Finds files of one set; names are tried from the naming file's folder first, then as written. */
export interface FileSet {
  readonly readFiles: ReadFiles;
  /** The bytes of one file; null when there is none of that name. */
  readonly readDataFile: (name: string, fromFile: string) => ByteString | null;
}

/** A set of `files`; paths are parted by slashes. Cost: each Include looks at every path. */
export function createFileSet(files: readonly SourceFile[]): FileSet {
  const byPath = new Map(files.map((file) => [normalizePath(file.path), file]));
  const find = (pattern: string, fromFile: string): readonly SourceFile[] => {
    for (const path of candidates(pattern, fromFile)) {
      const exact = byPath.get(path);
      if (exact !== undefined) return [exact];
      if (!/[*?[]/.test(path)) continue;
      const found = [...byPath].filter(([name]) => matchesGlob(name, path));
      if (found.length > 0) return found.map(([, file]) => file);
    }
    return [];
  };
  return {
    readFiles: find,
    readDataFile: (name, fromFile) => {
      for (const path of candidates(name, fromFile)) {
        const file = byPath.get(path);
        if (file !== undefined) return file.text;
      }
      return null;
    },
  };
}

function candidates(name: string, fromFile: string): string[] {
  const asWritten = normalizePath(name);
  if (name.startsWith('/')) return [asWritten];
  const folder = fromFile.slice(0, fromFile.lastIndexOf('/') + 1);
  return [normalizePath(folder + name), asWritten];
}

/** Takes `.` and `..` out of a path; `..` above the top stays out of the way. */
function normalizePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/');
}

/**
 * True when `path` matches `pattern`: `*` and `?` stand for bytes other than a slash, `[a-z]` and
 * `[!a-z]` for one of a class. Cost: path times pattern, no backtracking over more.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const pathParts = path.split('/');
  const patternParts = pattern.split('/');
  if (pathParts.length !== patternParts.length) return false;
  return patternParts.every((part, index) => matchesPart(pathParts[index] ?? '', part));
}

function matchesPart(text: string, pattern: string): boolean {
  const units = pattern.match(/\*+|\[!?[^\]]+\]|[^]/g) ?? [];
  let textAt = 0;
  let unitAt = 0;
  let starAt = -1;
  let starText = 0;
  while (textAt < text.length) {
    const unit = units[unitAt] ?? '';
    if (unit.startsWith('*')) {
      starAt = unitAt;
      starText = textAt;
      unitAt += 1;
    } else if (unit !== '' && matchesUnit(text[textAt] ?? '', unit)) {
      textAt += 1;
      unitAt += 1;
    } else if (starAt >= 0) {
      // The last star takes one byte more; earlier stars never need to.
      starText += 1;
      textAt = starText;
      unitAt = starAt + 1;
    } else return false;
  }
  while (units[unitAt]?.startsWith('*') === true) unitAt += 1;
  return unitAt === units.length;
}

function matchesUnit(char: string, unit: string): boolean {
  if (unit === '?') return true;
  if (unit.length === 1) return unit === char;
  const negated = unit[1] === '!';
  const ranges = unit.slice(negated ? 2 : 1, -1).match(/[^]-[^]|[^]/g) ?? [];
  const inside = ranges.some((range) =>
    range.length === 3 ? char >= (range[0] ?? '') && char <= (range[2] ?? '') : range === char,
  );
  return inside !== negated;
}
