/**
 * Reads what this program was built from: its package, the commit that the build noted, and the
 * libraries that it runs with. Never guesses: what is not known is empty.
 */

import { readFileSync } from 'node:fs';

/** What a program was built from. */
export interface BuildInfo {
  readonly version: string;
  /** Git commit; followed by `+` where the sources were changed since; '' when unknown. */
  readonly commit: string;
  /** RFC 3339; '' when unknown. */
  readonly builtAt: string;
  /** Versions by name: the runtime, what it is linked with, and the packages. */
  readonly libraries: Readonly<Record<string, string>>;
}

/** Runtime libraries that are named; the rest of `process.versions` is Node's own. */
const runtimeLibraries = ['node', 'v8', 'uv', 'openssl', 'zlib'] as const;

/** Facts of the running build. Cost: two small files. */
export function readBuildInfo(): BuildInfo {
  const { version = '', dependencies = {} } = readNearest<{
    version?: string;
    dependencies?: Record<string, string>;
  }>(['../package.json', '../../package.json']);
  const { commit = '', builtAt = '' } = readNearest<{ commit?: string; builtAt?: string }>([
    '../build.json',
  ]);
  const libraries: Record<string, string> = {};
  for (const name of runtimeLibraries) libraries[name] = process.versions[name] ?? '';
  for (const [name, wanted] of Object.entries(dependencies)) {
    libraries[name] = wanted.replace(/^npm:.*@/, '');
  }
  return { version, commit, builtAt, libraries };
}

/** The first JSON file that is there; {} where none is. The build lies a folder deeper. */
function readNearest<T extends object>(places: readonly string[]): Partial<T> {
  for (const place of places) {
    try {
      return JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as T;
    } catch {
      // Not here.
    }
  }
  return {};
}
