/** The addresses of IP lists as the custom rules of a policy match them: files beside it. */

import { textOfKey } from '../../../base/ip-address.ts';
import { chunkReader, contentOf } from '../../access/list-contents.ts';
import { listFile, listsOfRule } from '../../domain/policy/custom-rules.ts';
import { allEntries, type IpListContent } from '../../domain/access/ip-list-content.ts';
import type { CustomRuleRecord } from '../../domain/records.ts';
import type { ReadStore } from '../../store/store.ts';
import type { RulesetFile } from '../rulesets/ruleset-folder.ts';

/** The contents of the lists that rules name: what `listFiles` depends on. */
export function listContents(
  store: ReadStore,
  rules: readonly CustomRuleRecord[],
): IpListContent[] {
  const ids = new Set(rules.flatMap((rule) => [...listsOfRule(rule).values()]));
  return [...ids].sort().map((id) => contentOf(store, id));
}

/** A file for each list that rules name, an address or network a line. Cost: reads every entry. */
export function listFiles(store: ReadStore, rules: readonly CustomRuleRecord[]): RulesetFile[] {
  return listContents(store, rules).map((content) => {
    const lines: string[] = [];
    for (const { key } of allEntries(content, chunkReader(store))) lines.push(textOfKey(key));
    return { path: listFile(content.id), content: new TextEncoder().encode(lines.join('\n')) };
  });
}
