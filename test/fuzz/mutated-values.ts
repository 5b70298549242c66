/** Random byte strings near what rules look for: matches and near misses are common. */

import fc from 'fast-check';

const pieceLengthMax = 24;

/** Values made of pieces of patterns and payloads, with bytes changed, cut, doubled and cased. */
export function mutatedValues(
  patterns: readonly string[],
  payloads: readonly string[],
): fc.Arbitrary<string> {
  const words = [...new Set(patterns.flatMap((one) => one.split(/[^0-9A-Za-z_]+/)))];
  const spelled = patterns.map(spellOut).filter((text) => text !== '');
  const sources = [...spelled, ...payloads, 'x'];
  const piece = fc
    .tuple(fc.constantFrom(...sources), fc.nat(), fc.nat({ max: pieceLengthMax }))
    .map(([text, start, length]) => text.substr(start % text.length, length));
  const part = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words, 'a', '0') },
    { weight: 4, arbitrary: piece },
    { weight: 2, arbitrary: fc.constantFrom(...spelled, 'x') },
    { weight: 1, arbitrary: fc.constantFrom(...payloads, 'x') },
    {
      weight: 3,
      arbitrary: fc.constantFrom(...' ()=<>;:/\\\'"`$.,-+*%&|#!?@[]{}^~\n\r\t\0\v\x85\xa0'),
    },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)) },
  );
  return fc
    .tuple(fc.array(part, { maxLength: 7 }), fc.constantFrom('', '', 'upper', 'lower', 'double'))
    .map(([parts, change]) => mutate(parts.join(''), change));
}

function mutate(text: string, change: string): string {
  if (change === 'upper') return text.toUpperCase().replace(/[^\0-\xff]/g, 'x');
  if (change === 'lower') return text.toLowerCase();
  return change === 'double' ? text + text : text;
}

/** A text close to what a pattern matches: classes and groups become plain characters. */
function spellOut(pattern: string): string {
  return pattern
    .replace(/\(\?[a-z]*:?|[()^$?*+|]|\{\d+,?\d*\}/g, '')
    .replace(/\[\^?(\\?[^\]])[^\]]*\]/g, '$1')
    .replace(/\\[sv]/g, ' ')
    .replace(/\\[dw]/g, '1')
    .replace(/\\b/g, '')
    .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/\\(.)/g, '$1');
}
