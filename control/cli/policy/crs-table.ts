/** How rulesets, their rules and exclusion plugins look in tables. */

import type {
  CrsExclusionPlugin,
  CrsRule,
  CrsRuleset,
  PolicyCrsExclusionPlugin,
} from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { Table } from '../output.ts';
import { timeText } from '../show.ts';

/** Rulesets, a row each. */
export function rulesetTable(rulesets: readonly CrsRuleset[]): Table {
  return {
    columns: ['ID', 'VERSION', 'SOURCE', 'STATUS', 'RULES', 'FILES', 'PLUGINS', 'IMPORTED'],
    rows: rulesets.map((one) => [
      one.id,
      one.version,
      one.source,
      one.status,
      String(one.ruleCount),
      String(one.ruleFileCount),
      String(one.pluginCount),
      timeText(one.ingestedAt),
    ]),
  };
}

/** Rules of a ruleset, a row each. */
export function crsRuleTable(rules: readonly CrsRule[]): Table {
  return {
    columns: ['RULE', 'PHASE', 'LEVEL', 'SEVERITY', 'SCORE', 'CATEGORY', 'MESSAGE'],
    rows: rules.map((one) => [
      String(one.ruleId),
      String(one.phase),
      one.paranoiaLevel === 0 ? '-' : String(one.paranoiaLevel),
      one.severity || '-',
      String(one.defaultScore),
      one.categoryLabel,
      one.msg,
    ]),
  };
}

/** Exclusion plugins, a row each. */
export function pluginTable(plugins: readonly CrsExclusionPlugin[]): Table {
  return {
    columns: ['SLUG', 'NAME', 'THERE', 'SOURCE', 'VERSION', 'IMPORTED'],
    rows: plugins.map((one) => [
      one.slug,
      one.displayName,
      one.installed ? 'yes' : 'no',
      one.source || '-',
      one.sourceVersion || '-',
      timeText(one.importedAt) || '-',
    ]),
  };
}

/** Uses of exclusion plugins, a row each. */
export function bindingTable(bindings: readonly PolicyCrsExclusionPlugin[]): Table {
  return {
    columns: ['ID', 'PLUGIN', 'PATH', 'ORDER', 'RUNS'],
    rows: bindings.map((one) => [
      one.id,
      one.pluginSlug,
      one.pathPrefix || '(every path)',
      String(one.sortOrder),
      one.enabled ? 'yes' : 'no',
    ]),
  };
}
