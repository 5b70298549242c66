/**
 * A ModSecurity set-up as a Policy document, so that importing goes the way of every manifest: the
 * same checks, one transaction, a dry run. Reads the folder; never reads outside of it.
 */

import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { toByteString } from '../../../base/byte-string.ts';
import { AppError } from '../../../base/errors.ts';
import { commandLineLimits } from '../../limits/command-limits.ts';
import {
  importSetUp,
  type ImportedSetUp,
  type KnownFaults,
} from '../../domain/policy/seclang-import/import-set-up.ts';
import type { KnownRuleset } from '../../domain/policy/seclang-import/ruleset-edits.ts';
import type { SetUpFiles } from '../../domain/policy/seclang-import/read-order.ts';
import { sourceOf } from '../../domain/policy/seclang-import/source-map.ts';
import { filled } from './manifest-specs.ts';

export { faultOf } from '../../domain/policy/seclang-import/import-set-up.ts';
export type { KnownFaults } from '../../domain/policy/seclang-import/import-set-up.ts';
export type { ReportEntry } from '../../domain/policy/seclang-import/report.ts';
export type { KnownRule } from '../../domain/policy/seclang-import/exclusions.ts';
export type { KnownRuleset } from '../../domain/policy/seclang-import/ruleset-edits.ts';

/** An import: the report, and the manifest that makes the policy. */
export interface PolicyImport extends ImportedSetUp {
  readonly manifestYaml: Uint8Array<ArrayBuffer>;
  /** The same policy with its probes, for the compiler. */
  readonly probeYaml: Uint8Array<ArrayBuffer>;
}

/**
 * Imports the set-up in `folder` for a rule set; `faults` are refused in place of being taken.
 * Errors: AppError import_unreadable.
 */
export function importPolicy(
  folder: string,
  name: string,
  ruleset: KnownRuleset,
  faults?: KnownFaults,
): PolicyImport {
  const imported = importSetUp(readFolder(folder), ruleset, faults);
  const { settings, overrides, customRules, probes } = imported;
  const spec = {
    ...(ruleset.ref === '' ? {} : { crsRulesetRef: ruleset.ref }),
    description: 'Imported from a ModSecurity set-up',
    engineState: settings.engineState,
    blockingMode: settings.blockingMode,
    crsCore: settings.crsCore,
    httpPolicy: settings.httpPolicy,
    argLimits: settings.argLimits,
    ruleOverrides: overrides.map((one) => filled({ ...one })),
    customRules: customRules.map((one) => filled({ ...one })),
  };
  const document = { apiVersion: 'waf.io/v1', kind: 'Policy', metadata: { name }, spec };
  // What is judged has no overrides yet: their targets are in the probes, which come first, since
  // exclusions that have the same targets have no places for them.
  const judged = [...probes, ...customRules].map((one) => filled({ ...one }));
  const probe = { ...document, spec: { ...spec, ruleOverrides: [], customRules: judged } };
  return { ...imported, manifestYaml: yamlOf(document), probeYaml: yamlOf(probe) };
}

/** JSON is YAML. */
function yamlOf(document: object): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(document));
}

/**
 * What the API says against a rule, with the place in the set-up instead of the one in the rule as
 * the policy has it.
 */
export function atSource(
  message: string,
  folder: string,
  origins: ImportedSetUp['origins'],
): string {
  return message.replaceAll(
    /\S* ?line (\d+), column (\d+): rule (\d+):/g,
    (whole, line: string, column: string, rule: string) => {
      const { sources } = origins.get(rule) ?? { sources: [] };
      const place = sourceOf(sources, Number(line), Number(column));
      if (place === undefined) return whole;
      return `${join(folder, place.file)}:${place.line}:${place.column}: rule ${rule}:`;
    },
  );
}

/** Editors of other systems begin UTF-8 files with it. */
const byteOrderMark = /^\u00ef\u00bb\u00bf/;

/** The files of a folder. Links are followed where they stay in it; others are left aside. */
function readFolder(folder: string): SetUpFiles {
  const files: { path: string; text: string }[] = [];
  let bytes = 0;
  const visit = (top: string, within: string): void => {
    for (const name of readdirSync(join(top, within)).sort()) {
      const path = within === '' ? name : `${within}/${name}`;
      const real = realPath(join(top, path));
      if (real === null || !real.startsWith(top + sep)) continue;
      const facts = statSync(real);
      // A linked folder is met where it stands; following it might never end.
      if (facts.isDirectory() && real === join(top, path)) visit(top, path);
      if (!facts.isFile()) continue;
      bytes += facts.size;
      if (files.length >= commandLineLimits.importFilesMax) {
        throw unreadable(folder, `it holds more than ${commandLineLimits.importFilesMax} files`);
      }
      if (bytes > commandLineLimits.importBytesMax) {
        throw unreadable(folder, `it holds more than ${commandLineLimits.importBytesMax >> 20} MB`);
      }
      files.push({ path, text: toByteString(readFileSync(real)).replace(byteOrderMark, '') });
    }
  };
  const top = realPath(folder);
  if (top === null) throw unreadable(folder, 'there is no such folder');
  if (!statSync(top).isDirectory()) {
    throw unreadable(folder, 'it is a file: name the folder that holds it');
  }
  try {
    visit(top, '');
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const { code = '', path = '' } = cause as NodeJS.ErrnoException;
    throw unreadable(folder, `${path} cannot be read (${code})`);
  }
  if (!files.some(({ path }) => /\.(?:conf|load)$/i.test(path))) {
    throw unreadable(folder, 'it holds no *.conf file; name the folder with modsecurity.conf');
  }
  return { folder: basename(top), files };
}

/** Null where a link leads nowhere. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function unreadable(folder: string, why: string): AppError {
  return new AppError('import_unreadable', `${folder} cannot be imported: ${why}`, {
    source: 'config',
  });
}
