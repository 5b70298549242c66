/** What somebody with 100 networks sends to have signs of attacks taken for content. Pure. */

import type { Attacker, SentText } from './day.ts';

/** Networks of the attacker. */
const attackerNetworks = 100;

/** By family of signs a text that shows weak signs of it. */
export type WeakTexts = ReadonlyMap<string, string>;

/** Names that two networks share: all together are more than a thread and control keep. */
const namesPerPair = 12;

const address = (at: number): string => `203.${at}.113.9`;

/** By name; `names` are those of parameters that people write in. */
export function attackersOf(
  weak: WeakTexts,
  names: readonly string[],
): Readonly<Record<string, Attacker>> {
  const texts = [...weak.values()];
  return {
    'all families in all parameters': () =>
      everyNetwork((at) =>
        [...names, 'id', 'q'].flatMap((name) => texts.map((text) => sent(at, name, text))),
      ),
    '51 networks for each of two parameters': () =>
      everyNetwork((at) => [
        ...(at <= 50 ? [sent(at, 'id', texts[0]!)] : []),
        ...(at >= 49 ? [sent(at, 'q', texts[0]!)] : []),
      ]),
    'one family after the other': (hour) =>
      everyNetwork((at) => [sent(at, 'id', texts[Math.floor(hour / 6) % texts.length]!)]),
    'made-up names, each by two networks': () =>
      everyNetwork((at) =>
        Array.from({ length: namesPerPair }, (_, which) => {
          const number = Math.floor(at / 2) * namesPerPair + which;
          return sent(at, `made${number}`, texts[0]!);
        }),
      ),
  };
}

function sent(at: number, name: string, text: string): SentText {
  return { clientIp: address(at), name, text };
}

function everyNetwork(send: (at: number) => readonly SentText[]): SentText[] {
  return Array.from({ length: attackerNetworks }, (_, at) => send(at)).flat();
}
