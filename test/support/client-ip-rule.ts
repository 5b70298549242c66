/** A rule that reads the client from X-Forwarded-For, for tests that change a few fields. */

import type { ClientIpRuleConfig } from '../../engine/contract/trust.ts';

/** The rule; it trusts the node `lb`. */
export function clientIpRule(more: Partial<ClientIpRuleConfig> = {}): ClientIpRuleConfig {
  return {
    id: 'r1',
    header: 'x-forwarded-for',
    parser: 'xff',
    nodeIds: ['lb'],
    enabled: true,
    selector: '',
    position: 0,
    positionFrom: '',
    allowUntrusted: false,
    ...more,
  };
}
