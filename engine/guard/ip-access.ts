/** The guard that decides by IP lists. */

import type { IpAccessRule } from '../contract/access.ts';
import { allAfter, type GuardVerdict } from '../contract/guard.ts';
import type { SiteConfig } from '../contract/site.ts';
import { firstDecision, verdictOf, type CompiledRule } from './access-verdict.ts';
import type { Guard, GuardKind, GuardServices } from './guard.ts';
import { holdsAddress } from './ip-lookup.ts';
import type { RequestView } from './request-view.ts';

/** Lists of addresses that allow, deny or watch. */
export const ipAccess: GuardKind = {
  name: 'ip',
  compile: (site, { countListHit }) => {
    const { ip = [] } = site.access ?? {};
    if (ip.length === 0) return null;
    return new IpAccess(
      ip.map((rule) => compileRule(rule, site)),
      countListHit,
    );
  },
};

class IpAccess implements Guard {
  readonly name = 'ip';
  private readonly rules: readonly CompiledRule<IpAccessRule>[];
  /** The address that a binding looks at, by its id; of those that are met inside of a list. */
  private readonly counted: ReadonlyMap<string, IpAccessRule['source']>;
  private readonly countHit: GuardServices['countListHit'];
  private view: RequestView | null = null;
  private readonly isMet = (rule: IpAccessRule): boolean => meets(rule, this.view!);

  constructor(
    rules: readonly CompiledRule<IpAccessRule>[],
    countHit: GuardServices['countListHit'],
  ) {
    this.rules = rules;
    const inside = rules.filter(({ rule }) => !rule.inverted);
    this.counted = new Map(inside.map(({ rule }) => [rule.id, rule.source]));
    this.countHit = countHit;
  }

  decide(view: RequestView): GuardVerdict | null {
    this.view = view;
    const verdict = firstDecision(this.rules, this.isMet);
    this.view = null;
    if (verdict !== null && !view.trial) {
      for (const earlier of verdict.earlier ?? []) this.count(earlier, view);
      this.count(verdict, view);
    }
    return verdict;
  }

  describe({ facts }: RequestView): string {
    return `client ${facts.clientIp}, peer ${facts.peerIp}, ${this.rules.length} lists`;
  }

  /** An address outside of a list has no entry that could be counted. */
  private count({ ruleId }: GuardVerdict, { facts }: RequestView): void {
    const source = this.counted.get(ruleId);
    if (source === undefined) return;
    this.countHit?.(ruleId, source === 'peer_ip' ? facts.peerIp : facts.clientIp);
  }
}

function meets(rule: IpAccessRule, view: RequestView): boolean {
  if (!view.isUnder(rule.pathPrefix, rule.kind !== 'allow')) return false;
  const address = rule.source === 'peer_ip' ? view.peerAddress : view.clientAddress;
  return holdsAddress(rule.set, address, view.nowMs) !== rule.inverted;
}

function compileRule(rule: IpAccessRule, { access }: SiteConfig): CompiledRule<IpAccessRule> {
  const detail = `${rule.source} ${rule.inverted ? 'not ' : ''}in list ${rule.listId}`;
  const lists = (access?.country ?? []).length > 0 ? (['country'] as const) : [];
  const skips = rule.bypass === 'all_waf' ? allAfter('ip') : lists;
  return { rule, verdict: verdictOf('ip', rule, skips, detail) };
}
