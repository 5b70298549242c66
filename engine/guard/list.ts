/**
 * The order in which guards decide. To add a guard: write its file, add its line here. What it
 * needs of the configuration comes with `SiteConfig`.
 */

import { botGate } from './bot/bot-gate.ts';
import { countryAccess } from './country-access.ts';
import type { GuardKind } from './guard.ts';
import { ipAccess } from './ip-access.ts';
import { pathAuth } from './path-auth.ts';
import { rateLimitGuard } from './rate-limit.ts';

/** Every kind of guard, in the order in which they are asked; inspection by rules comes after. */
export const guardKinds: readonly GuardKind[] = [
  botGate,
  rateLimitGuard,
  ipAccess,
  countryAccess,
  // Resource guards.
  // Virtual patches are rules: engine/phases/patch-notes.ts.
  pathAuth,
];
