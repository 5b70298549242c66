/**
 * Include: which files are read in which order, and the bounds on depth, cycles and number.
 * Reads nothing itself: the caller's port lists and reads the files.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { seclangLimits } from '../../../base/rule-limits.ts';
import { runAtOnce, type Steps } from '../../../base/steps.ts';
import type { Directive, IncludeDirective } from './ast.ts';
import { createDiagnostics, quoteForMessage, type Diagnostic, type Report } from './diagnostic.ts';
import { parseInSteps } from './parse.ts';

/** One rule file; `path` is its identity and what spans show. */
export interface SourceFile {
  readonly path: string;
  /** The bytes, as latin1. */
  readonly text: ByteString;
}

/**
 * Lists and reads the files that an Include's `pattern` (a path, or one with wildcards) means when
 * written in `fromFile`. Shape: [] when there is none. It decides what may be read at all.
 */
export type ReadFiles = (pattern: string, fromFile: string) => readonly SourceFile[];

/** A rule set as one list of directives in the order in which they take effect. */
export interface SourceSet {
  readonly directives: readonly Directive[];
  /** Paths in the order they were entered; a file that is included twice stands here twice. */
  readonly files: readonly string[];
  /** Of reading and parsing; linking adds its own. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses `roots` in order and puts in the place of each Include the files it names, by path. */
export function loadSourceSet(roots: readonly SourceFile[], readFiles: ReadFiles): SourceSet {
  return runAtOnce(loadInSteps(roots, readFiles));
}

/** As `loadSourceSet`, a directive a step. */
export function* loadInSteps(roots: readonly SourceFile[], readFiles: ReadFiles): Steps<SourceSet> {
  const { list, report } = createDiagnostics(seclangLimits.diagnosticsMax);
  const loading: Loading = { directives: [], files: [], readFiles, report };
  for (const root of roots) yield* loadFile(loading, root, []);
  return { directives: loading.directives, files: loading.files, diagnostics: list };
}

/** A rule set that stands in one text and includes nothing. */
export function loadText(text: ByteString, file: string): SourceSet {
  return loadSourceSet([{ path: file, text }], () => []);
}

interface Loading {
  readonly directives: Directive[];
  readonly files: string[];
  readonly readFiles: ReadFiles;
  readonly report: Report;
}

function* loadFile(loading: Loading, file: SourceFile, parents: readonly string[]): Steps<void> {
  loading.files.push(file.path);
  const { directives, diagnostics } = yield* parseInSteps(file.text, file.path);
  for (const { severity, code, message, span } of diagnostics) {
    loading.report(severity, code, message, span);
  }
  const chain = [...parents, file.path];
  for (const directive of directives) {
    if (directive.kind === 'Include') yield* include(loading, directive, chain);
    else loading.directives.push(directive);
  }
}

function* include(
  loading: Loading,
  directive: IncludeDirective,
  chain: readonly string[],
): Steps<void> {
  const { text, span } = directive.pattern;
  if (chain.length >= seclangLimits.includeDepthMax) {
    const message = `files include each other deeper than ${seclangLimits.includeDepthMax}`;
    loading.report('error', 'include-depth', message, span);
    return;
  }
  const found = loading.readFiles(text, span.file);
  if (found.length === 0 && !directive.optional) {
    loading.report('error', 'include-missing', `no file matches ${quoteForMessage(text)}`, span);
  }
  const sorted = [...found].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const file of sorted) {
    if (chain.includes(file.path)) {
      const message = `${quoteForMessage(file.path)} includes itself`;
      loading.report('error', 'include-cycle', message, span);
    } else if (loading.files.length >= seclangLimits.filesMax) {
      const message = `more than ${seclangLimits.filesMax} files`;
      loading.report('error', 'include-files', message, span);
      return;
    } else yield* loadFile(loading, file, chain);
  }
}
