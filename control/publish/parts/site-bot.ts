/** How the bot protection of a site travels. Pure. */

import { RuntimeBotSchema, type RuntimeBot } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { SiteJson } from '../../../proto/gen/waf/v1/site_pb.ts';
import { byName } from './by-name.ts';

const modes: Readonly<Record<string, string>> = {
  BOT_PROTECTION_MODE_BROWSER_CHECK: 'browser_check',
  BOT_PROTECTION_MODE_HUMAN_VERIFICATION: 'human_verification',
};

/** True for a site whose gate challenges. */
export function challenges({ botProtection }: Pick<SiteJson, 'botProtection'>): boolean {
  return modes[botProtection?.mode ?? ''] !== undefined;
}

/** True for a site whose gate asks people. */
export function verifiesPeople({ botProtection }: Pick<SiteJson, 'botProtection'>): boolean {
  return modes[botProtection?.mode ?? ''] === 'human_verification';
}

/** The gate of a site as it travels, its fields by name; undefined where it is off. */
export function toRuntimeBot({
  botProtection: bot,
}: Pick<SiteJson, 'botProtection'>): RuntimeBot | undefined {
  const mode = modes[bot?.mode ?? ''];
  if (bot === undefined || mode === undefined) return undefined;
  return byName(RuntimeBotSchema, { ...bot, mode });
}
