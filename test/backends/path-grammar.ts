/** Draws request targets that some origin may read as `/api/login`. */

import type { Dice } from '../agree/random-changes.ts';

const hosts = ['x', 'a.example:80', 'u@x', '', '[::1]', 'x%2f', 'api'] as const;
const separators = ['/', '/', '/', '/', '//', '/./', '\\', '%2f', '%5c', '/;/', '/.//', '/%2e/'];
const detours = [
  'x/..',
  'public/..',
  'public/%2e%2e',
  'x/.%2E',
  'x\\..',
  'x/..;',
  'x;y/..',
  'x%2f..',
];
const tails = [
  '',
  '',
  '',
  '/',
  ';x',
  ';x=1/',
  '/.',
  '%20',
  '.',
  '?a=b',
  '??',
  '%00',
  '%0a',
  '/x/..',
  '//',
];
const fronts = ['', '', '', '/index.php', '/public/x.php', '/.', '/%2e'] as const;

/** A target; `pick` draws by the seed. */
export function drawTarget(dice: Dice): string {
  const authority = dice.below(10) < 3 ? `${lead(dice)}${dice.pick(hosts)}` : '';
  const detour = dice.below(10) < 4 ? `/${dice.pick(detours)}` : '';
  const path = ['api', 'login'].map((name) => dice.pick(separators) + spelled(name, dice)).join('');
  const target = authority + dice.pick(fronts) + detour + path + dice.pick(tails);
  return target.startsWith('/') ? target : `/${target}`;
}

function lead(dice: Dice): string {
  return dice.pick(['//', '/\\', '///', '/\\\\', '//\\']);
}

/** In another case, or with escapes, once or twice. */
function spelled(name: string, dice: Dice): string {
  if (dice.below(10) < 6) return name;
  const at = dice.below(name.length);
  const letter = name[at]!;
  const code = letter.charCodeAt(0).toString(16);
  const other = dice.pick([
    letter.toUpperCase(),
    `%${code}`,
    `%${code.toUpperCase()}`,
    `%25${code}`,
  ]);
  return name.slice(0, at) + other + name.slice(at + 1);
}
