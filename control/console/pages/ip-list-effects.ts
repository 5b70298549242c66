/** What an address list may do to its addresses where it acts. */

import { pageTexts } from '../text/text.ts';

const w = pageTexts({
  allow: ['Allow, past other lists only', '允许，仅跳过其他名单'],
  trust: ['Allow, and inspect nothing', '允许，且不检测'],
  deny: ['Deny', '拒绝'],
});

const effects = ['deny', 'trust', 'allow'] as const;

/** An effect in words. */
export const effectName = (effect: (typeof effects)[number]): string => w(effect);

/** All of them, as a choice. */
export const effectChoices = (): readonly (readonly [value: string, label: string])[] =>
  effects.map((one) => [one, w(one)]);

/** An effect as bindings have it. */
export function acting(effect: string): { kind: string; bypassMode: string } {
  return effect === 'trust'
    ? { kind: 'allow', bypassMode: 'all_waf' }
    : { kind: effect, bypassMode: '' };
}
