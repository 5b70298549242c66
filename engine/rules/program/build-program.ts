/**
 * The linking of a rule set: from the syntax tree to the one program that every interpreter
 * runs. Reads nothing itself and throws nothing; with any error there is no program.
 */

import { seclangLimits } from '../../../base/rule-limits.ts';
import { runAtOnce, type Steps } from '../../../base/steps.ts';
import type { RuleCatalog } from '../features/catalog.ts';
import type {
  Program,
  ProgramItem,
  ProgramSettings,
  RemovedRule,
  Rule,
  Target,
} from '../transaction/types.ts';
import { SOURCE, type SourceId } from '../transaction/values.ts';
import { createDiagnostics, hasErrors, type Diagnostic } from '../language/diagnostic.ts';
import type { Token } from '../language/ast.ts';
import type { SourceSet } from '../language/include.ts';
import { didYouMean } from '../language/nearest-name.ts';
import { applyExceptions } from './exceptions.ts';
import { createLinkContext, type LinkContext, type ReadDataFile } from './link-context.ts';
import { linkRule } from './link-rule.ts';
import { draftRules, type DraftItem, type RuleDraft } from './rule-drafts.ts';
import { linkSettings } from './settings.ts';

/** A program, or null with at least one error among the diagnostics. */
export interface BuildResult {
  readonly program: Program | null;
  /** Of parsing and linking, in the order of the source. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Links `source` against `catalog`. Ownership: the program's operators may hold native memory; its
 * user closes them. Cost: linear in the rules, but for exceptions, which each look at every rule.
 */
export function buildProgram(
  source: SourceSet,
  catalog: RuleCatalog,
  readDataFile: ReadDataFile,
): BuildResult {
  return runAtOnce(buildProgramInSteps(source, catalog, readDataFile));
}

/** As `buildProgram`, a rule a step; whoever stops in the middle leaves native memory to the GC. */
export function* buildProgramInSteps(
  source: SourceSet,
  catalog: RuleCatalog,
  readDataFile: ReadDataFile,
): Steps<BuildResult> {
  const { list, report } = createDiagnostics(seclangLimits.diagnosticsMax);
  const context = createLinkContext(catalog, readDataFile, report);
  const settings = linkSettings(source.directives, context);
  const items = draftRules(source.directives, context);
  const drafts = items.flatMap((item) => (item.kind === 'rule' ? [item.draft] : []));
  applyExceptions(source.directives, drafts, context);
  const skips = readSkips(drafts);
  const program = yield* linkItems(items, settings, skips, context);
  checkSkips(program, skips, context);
  const diagnostics = sortBySource([...source.diagnostics, ...list], source.files);
  if (!hasErrors(diagnostics)) return { program, diagnostics };
  closeProgram(program);
  return { program: null, diagnostics };
}

/** Frees the native memory that a program's operators hold; it must not run any more. */
export function closeProgram(program: Program): void {
  for (const rule of program.rules) rule.operator?.close?.();
  for (const { rule } of program.removed) {
    for (let link: Rule | null = rule; link; link = link.next) link.operator?.close?.();
  }
}

const phaseCount = 5;

function* linkItems(
  items: readonly DraftItem[],
  settings: ProgramSettings,
  skips: ReadonlyMap<string, Token>,
  context: LinkContext,
): Steps<Program> {
  const phases: ProgramItem[][] = Array.from({ length: phaseCount + 1 }, () => []);
  const rules: Rule[] = [];
  const removed: RemovedRule[] = [];
  for (const item of items) {
    if (item.kind === 'marker') {
      const marker = { kind: 'marker', name: item.name } as const;
      for (const phase of phases.slice(1)) phase.push(marker);
      continue;
    }
    yield;
    if (item.draft.removed) {
      const rule = linkRemoved(item.draft, settings.pcreMatchLimit, context);
      if (rule !== null) removed.push({ rule, place: phases[rule.phase]!.length });
      continue;
    }
    const linked = linkRule(item.draft, rules.length, settings.pcreMatchLimit, context);
    const [first] = linked ?? [];
    if (linked === null || first === undefined) continue;
    rules.push(...linked);
    phases[first.phase]?.push(first);
    // skipAfter may also name a rule: the place after it (ModSecurity v2).
    const name = String(first.id);
    if (first.id > 0 && skips.has(name)) phases[first.phase]?.push({ kind: 'marker', name });
  }
  const asked = new Set(rules.flatMap(({ targets }) => targets.flatMap(sourcesOf)));
  const asks = (sources: readonly SourceId[]): boolean => sources.some((one) => asked.has(one));
  const pathReadings = asks([SOURCE.requestPath, SOURCE.requestPathsJoined]);
  const renamedValues = asks([SOURCE.argRenamed, SOURCE.cookieRenamed, SOURCE.headerRenamed]);
  return { settings: { ...settings, pathReadings, renamedValues }, phases, rules, removed };
}

function sourcesOf({ variable }: Target): readonly SourceId[] {
  return variable.rows?.sources ?? [];
}

/** The first link of a rule that never runs; null where it does not link, which is no error. */
function linkRemoved(draft: RuleDraft, pcreMatchLimit: number, context: LinkContext): Rule | null {
  const silent: LinkContext = { ...context, report: () => undefined, told: new Set() };
  return linkRule(draft, removedIndex, pcreMatchLimit, silent)?.[0] ?? null;
}

/** Far from the index of any rule of a program. */
const removedIndex = -1_000_000;

/** Where each target of a skipAfter is first named. */
function readSkips(drafts: readonly RuleDraft[]): Map<string, Token> {
  const skips = new Map<string, Token>();
  for (const draft of drafts) {
    if (draft.removed) continue;
    for (const { directive } of [draft, ...draft.links]) {
      for (const { name, value } of directive.actions) {
        const isSkip = name.text.toLowerCase() === 'skipafter' && value !== null;
        if (isSkip && !skips.has(value.text)) skips.set(value.text, value);
      }
    }
  }
  return skips;
}

/** A skipAfter without its marker skips the rest of the phase: allowed, but hardly meant. */
function checkSkips(
  program: Program,
  skips: ReadonlyMap<string, Token>,
  context: LinkContext,
): void {
  const markers = new Set<string>();
  for (const item of program.phases.flat()) if (item.kind === 'marker') markers.add(item.name);
  for (const [name, { span }] of skips) {
    if (markers.has(name)) continue;
    const hint = didYouMean(name, markers);
    const message = `no SecMarker of that name: the rest of the phase is skipped${hint}`;
    context.report('warning', 'unknown-marker', message, span);
  }
}

/** By file in the order of loading, then by line and column. */
function sortBySource(diagnostics: readonly Diagnostic[], files: readonly string[]): Diagnostic[] {
  const order = new Map<string, number>();
  for (const [index, file] of files.entries()) if (!order.has(file)) order.set(file, index);
  const rank = (diagnostic: Diagnostic): number => order.get(diagnostic.span.file) ?? files.length;
  return [...diagnostics].sort(
    (a, b) => rank(a) - rank(b) || a.span.line - b.span.line || a.span.column - b.span.column,
  );
}
