/** The guard that decides by country. */

import type { CountryAccessRule } from '../contract/access.ts';
import { allAfter, type GuardVerdict } from '../contract/guard.ts';
import { firstDecision, verdictOf, type CompiledRule } from './access-verdict.ts';
import type { Guard, GuardKind, GuardServices } from './guard.ts';
import type { RequestView } from './request-view.ts';

/** Countries that allow, deny or watch. An address without a country is in no list of them. */
export const countryAccess: GuardKind = {
  name: 'country',
  compile: (site, services) => {
    const { country = [] } = site.access ?? {};
    return country.length === 0 ? null : new CountryAccess(country, services);
  },
};

interface Rule extends CountryAccessRule {
  readonly codes: ReadonlySet<string>;
}

class CountryAccess implements Guard {
  readonly name = 'country';
  private readonly rules: readonly CompiledRule<Rule>[];
  private readonly countryOf: GuardServices['countryOf'];
  private view: RequestView | null = null;
  private readonly isMet = (rule: Rule): boolean =>
    rule.codes.has(this.codeOf(this.view!, rule.source)) !== rule.inverted;

  constructor(rules: readonly CountryAccessRule[], { countryOf }: GuardServices) {
    this.countryOf = countryOf;
    this.rules = rules.map((rule) => compileRule({ ...rule, codes: new Set(rule.countries) }));
  }

  decide(view: RequestView): GuardVerdict | null {
    this.view = view;
    const verdict = firstDecision(this.rules, this.isMet);
    this.view = null;
    if (verdict === null || verdict.action === 'bypass') return verdict;
    // Who reads of a refusal wants to know which country it was.
    return { ...verdict, detail: `${this.describe(view)}; ${verdict.detail}` };
  }

  describe(view: RequestView): string {
    const name = (source: Rule['source']): string => this.codeOf(view, source) || 'unknown';
    return `client in ${name('client_ip')}, peer in ${name('peer_ip')}`;
  }

  private codeOf({ facts }: RequestView, source: Rule['source']): string {
    return this.countryOf(source === 'peer_ip' ? facts.peerIp : facts.clientIp);
  }
}

function compileRule(rule: Rule): CompiledRule<Rule> {
  const detail = `${rule.source} ${rule.inverted ? 'not ' : ''}in ${rule.countries.join(', ')}`;
  const skips = rule.bypass === 'all_waf' ? allAfter('country') : [];
  return { rule, verdict: verdictOf('country', rule, skips, detail) };
}
