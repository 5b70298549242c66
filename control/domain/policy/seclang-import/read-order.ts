/**
 * The directives of a set-up in the order in which they take effect: files that nothing includes
 * come first to last as ModSecurity's packages order them, Includes are followed within the folder.
 * Pure; what is not in the folder is never read.
 */

import { counted } from '../../../../base/counted.ts';
import { seclangLimits } from '../../../../base/rule-limits.ts';
import type { Directive, IncludeDirective } from '../../../../engine/rules/language/ast.ts';
import type { Diagnostic } from '../../../../engine/rules/language/diagnostic.ts';
import { matchesGlob } from '../../../../engine/rules/language/file-set.ts';
import type { SourceFile } from '../../../../engine/rules/language/include.ts';
import { parseSecLang } from '../../../../engine/rules/language/parse.ts';
import {
  entryOf,
  honored,
  ignored,
  refused,
  refusedAt,
  type ReportEntry,
  type Verdict,
} from './report.ts';

/** A directive with where it stands. */
export interface PlacedDirective {
  readonly directive: Directive;
  /** After the place of the rule set. */
  readonly afterRules: boolean;
  /** In a file of the rule set itself. */
  readonly ofRuleset: boolean;
  /** A section of the web server around it, such as `<Location /a>`; '' for none. */
  readonly section: string;
  /** What the parser says against it; null for nothing. */
  readonly fault: Verdict | null;
}

/** The files of a set-up. */
export interface SetUpFiles {
  /** Name of the folder, by which absolute paths of another machine are found in it. */
  readonly folder: string;
  /** Paths relative to it. */
  readonly files: readonly SourceFile[];
}

/** Everything in order, and the fates that reading alone decides. */
export interface ReadSetUp {
  readonly placed: readonly PlacedDirective[];
  readonly entries: readonly ReportEntry[];
}

const rulesetFile = /(?:^|\/)(?:REQUEST|RESPONSE)-9\d\d-[\w-]+\.conf$/;
const exclusionFile = /-9\d\d-EXCLUSION-RULES-/;
const configurationFile = /\.(?:conf|load)$/i;
/** Sections that hold for every request, or do not change what is inside. */
const transparentSection = /^<\/?ifmodule\b/i;

/** Reads all configuration files. */
export function readSetUp({ folder, files }: SetUpFiles): ReadSetUp {
  const reader = new Reader(folder, files);
  const roots = files
    .filter(({ path }) => configurationFile.test(path))
    .toSorted((left, right) => rank(left.path) - rank(right.path) || compare(left, right));
  const included = reader.includedFiles(roots);
  for (const root of roots) if (!included.has(root.path)) reader.read(root, []);
  // Files that include each other have no first one.
  for (const root of roots) if (!reader.seen.has(root.path)) reader.read(root, []);
  return { placed: reader.placed, entries: reader.entries };
}

/** True for the files of a Core Rule Set, but not for those that operators fill. */
export function isRulesetFile(path: string): boolean {
  return rulesetFile.test(path) && !exclusionFile.test(path);
}

/** A data file of the set-up, as a rule in `fromFile` names it. */
export function findFile(
  { folder, files }: SetUpFiles,
  name: string,
  fromFile: string,
): SourceFile | null {
  for (const path of candidates(name, fromFile, folder)) {
    const found = files.find((file) => file.path === path);
    if (found !== undefined) return found;
  }
  return null;
}

function rank(path: string): number {
  if (/(?:^|\/)modsecurity[^/]*\.conf$/.test(path)) return 0;
  if (/crs-setup[^/]*\.conf$/.test(path)) return 1;
  if (/-EXCLUSION-RULES-BEFORE-/.test(path)) return 2;
  if (isRulesetFile(path)) return 4;
  return /-EXCLUSION-RULES-AFTER-/.test(path) ? 5 : 3;
}

function compare(left: SourceFile, right: SourceFile): number {
  return left.path < right.path ? -1 : 1;
}

class Reader {
  readonly placed: PlacedDirective[] = [];
  readonly entries: ReportEntry[] = [];
  readonly seen = new Set<string>();
  private readonly folder: string;
  private readonly files: readonly SourceFile[];
  private afterRules = false;
  private reads = 0;

  constructor(folder: string, files: readonly SourceFile[]) {
    this.folder = folder;
    this.files = files;
  }

  includedFiles(roots: readonly SourceFile[]): Set<string> {
    const found = new Set<string>();
    for (const root of roots) {
      for (const directive of parseSecLang(root.text, root.path).directives) {
        if (directive.kind !== 'Include') continue;
        for (const { path } of this.named(directive)) if (path !== root.path) found.add(path);
      }
    }
    return found;
  }

  read(file: SourceFile, parents: readonly string[]): void {
    this.seen.add(file.path);
    this.reads += 1;
    const ofRuleset = isRulesetFile(file.path);
    if (ofRuleset || /-EXCLUSION-RULES-AFTER-/.test(file.path)) this.afterRules = true;
    const { directives, diagnostics } = parseSecLang(file.text, file.path);
    const sections: string[] = [];
    for (const directive of directives) {
      if (this.readSection(file, directive, sections)) continue;
      if (directive.kind === 'Include' && sections.length === 0) {
        this.include(directive, [...parents, file.path]);
        continue;
      }
      const fault = faultIn(directive, diagnostics);
      const { afterRules } = this;
      const section = sections.at(-1) ?? '';
      this.placed.push({ directive, afterRules, ofRuleset, section, fault });
    }
  }

  /** True for the first and the last line of a section. */
  private readSection(file: SourceFile, directive: Directive, sections: string[]): boolean {
    if (directive.kind !== 'Invalid' || !directive.name.text.startsWith('<')) return false;
    const line = (file.text.split('\n')[directive.span.line - 1] ?? '').trim();
    if (!transparentSection.test(line)) {
      if (line.startsWith('</')) sections.pop();
      else sections.push(line);
    }
    const note = transparentSection.test(line)
      ? 'a condition of the web server; what stands inside is imported'
      : 'a section of the web server; see what stands inside';
    this.entries.push(entryOf(directive, ignored(note)));
    return true;
  }

  private include(directive: IncludeDirective, chain: readonly string[]): void {
    const found = this.named(directive);
    const add = (verdict: Parameters<typeof entryOf>[1]): void =>
      void this.entries.push(entryOf(directive, verdict));
    const { text } = directive.pattern;
    if (found.length === 0) {
      // Where distributions keep the rule set itself, outside of the folder of settings.
      if (/\/rules\/|modsecurity-crs|coreruleset|owasp/i.test(text)) {
        this.afterRules = true;
        return add(honored('the rule set of the policy stands here'));
      }
      if (directive.optional) return add(ignored('no file matches'));
      return add(refused('no such file in the folder: copy it there and import again'));
    }
    const repeated = found.some(({ path }) => chain.includes(path));
    if (repeated || chain.length >= seclangLimits.includeDepthMax) {
      return add(refused('files include each other, or deeper than 16 levels'));
    }
    if (this.reads + found.length > seclangLimits.filesMax) {
      return add(refused(`more than ${seclangLimits.filesMax} files`));
    }
    add(honored(`${counted(found.length, 'file')} read here`));
    for (const file of found.toSorted(compare)) this.read(file, chain);
  }

  /** The files of the folder that an Include means. */
  private named({ pattern, span }: IncludeDirective): readonly SourceFile[] {
    for (const wanted of candidates(pattern.text, span.file, this.folder)) {
      const found = this.files.filter(({ path }) => matchesGlob(path, wanted));
      if (found.length > 0) return found;
    }
    return [];
  }
}

/** Relative to the file, to the folder, and below the folder's name in an absolute path. */
function candidates(pattern: string, fromFile: string, folder: string): string[] {
  const own = fromFile.slice(0, fromFile.lastIndexOf('/') + 1);
  const marked = pattern.lastIndexOf(`/${folder}/`);
  const below = marked < 0 ? [] : [pattern.slice(marked + folder.length + 2)];
  const near = pattern.startsWith('/') ? [] : [own + pattern, pattern];
  return [...near, ...below].map(withoutDots).filter((path) => !path.startsWith('..'));
}

function withoutDots(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** One fault refuses the whole directive: what the parser left out of it would be lost. */
function faultIn(directive: Directive, diagnostics: readonly Diagnostic[]): Verdict | null {
  const { line, endLine } = directive.span;
  const found = diagnostics.find(
    ({ severity, span }) => severity === 'error' && span.line >= line && span.line <= endLine,
  );
  if (found !== undefined) return refusedAt(found.span, found.message);
  return directive.kind === 'Invalid' ? refused('unreadable') : null;
}
