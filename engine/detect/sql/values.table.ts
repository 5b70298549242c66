/** Detectors of values that are SQL as a whole: too short for shapes of tokens to prove anything. */

import { SEEN } from '../bytes-seen.ts';
import { patternFamily, type PatternDetector } from '../patterns.ts';

const source = 'ISO/IEC 9075-2, sections 6 and 8';
const rows: readonly PatternDetector[] = [
  {
    id: 198_116,
    name: 'sql-value-between-quotes',
    proves: 'breaks out of the quotes that a query has around it with nothing but an operator',
    source,
    strong: true,
    confirmedBy: [942],
    needs: SEEN.quote,
    literals: ["'"],
    pattern:
      /^[\w.@%-]{0,24}'\s{0,4}(?:\|\||&&|[<>!]?=|<>|<=>|[-+*^&|<>%/])\s{0,4}'[\w.@%-]{0,24}$|^'\s{0,4}(?:\|\||\+|-)\s{0,4}[@\w.]{2,40}(?:\(\))?\s{0,4}(?:\|\||\+|-)\s{0,4}'$/g,
    examples: {
      attacks: ["'='", "ad'||'min", "'+'", "'-'", "'||user||'"],
      benign: ["'a', 'b'", "it's", "'n'", "rock 'n' roll", "' '"],
    },
  },
  {
    id: 198_117,
    name: 'sql-value-and-constant',
    proves: 'adds a condition that is always true to a number',
    source,
    strong: true,
    confirmedBy: [942],
    needs: SEEN.digit,
    literals: ['true', 'false', 'null', 'or', '||', '&&'],
    pattern:
      /^-?\d{1,12}\)?(?:\s|\/\*[^*]{0,16}\*\/|--[^\n]{0,8}\n){0,6}(?:x?or|\|\||&&)(?:\s|\/\*[^*]{0,16}\*\/|--[^\n]{0,8}\n){0,6}(?:not(?:\s|\/\*[^*]{0,16}\*\/){1,6}\d{1,4}|0x[\da-f]{1,16}|\d{0,8}e\d{1,3}|\.\d{1,8}|[-+~(]{1,3}\d{1,8}\)?)\s{0,4};?$|^-?\d{1,12}[\s)]{1,8}(?:x?or|and|\|\||&&)\s{1,8}(?:not\s{1,4}|!){0,2}(?:true|false|null)(?:\s{0,4}(?:--|#)[^\n]{0,8})?$|^-?\d{1,12}\s{0,4}[-+*^]\s{0,4}(?:true|false)$/gi,
    examples: {
      attacks: [
        '0 or 0x1',
        '1 or not 0',
        '9/**/or -1',
        '1 or true',
        '1 -false',
        '5) or not false -- ',
      ],
      benign: ['1 or 2', 'true or false', '3 - true story', '1 or a=b'],
    },
  },
];

/** The family of values that are SQL as a whole. */
export const sqlValues = patternFamily('sql value', rows);
