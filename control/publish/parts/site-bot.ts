/** How the bot protection of a site travels. Pure. */

import { RuntimeBotSchema, type RuntimeBot } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { SiteJson } from '../../../proto/gen/waf/v1/site_pb.ts';
import { byName } from './by-name.ts';

const modes: Readonly<Record<string, string>> = {
  BOT_PROTECTION_MODE_BROWSER_CHECK: 'browser_check',
  BOT_PROTECTION_MODE_HUMAN_VERIFICATION: 'human_verification',
};

/** True for a site whose gate challenges, if only under attack. */
export function challenges({ botProtection: bot }: Pick<SiteJson, 'botProtection'>): boolean {
  return bot?.underAttack === true || modes[bot?.mode ?? ''] !== undefined;
}

/** True for a site whose gate asks people. */
export function verifiesPeople({ botProtection }: Pick<SiteJson, 'botProtection'>): boolean {
  return modes[botProtection?.mode ?? ''] === 'human_verification';
}

/** The gate of a site as it travels, its fields by name; undefined where it never challenges. */
export function toRuntimeBot(site: Pick<SiteJson, 'botProtection'>): RuntimeBot | undefined {
  if (!challenges(site)) return undefined;
  const bot = site.botProtection;
  return byName(RuntimeBotSchema, { ...bot, mode: modes[bot?.mode ?? ''] ?? 'off' });
}
