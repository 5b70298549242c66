/** The table of transformations: names, what they do, one example each. No behavior. */

/** A transformation as its documentation and its test say it. */
export interface TransformationRow {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly input: string;
  readonly output: string;
  readonly source?: string;
}

const coraza = 'Coraza SecLang reference, Transformations';

function row(
  name: string,
  summary: string,
  input: string,
  output: string,
  more: Pick<TransformationRow, 'aliases' | 'source'> = {},
): TransformationRow {
  return { name, summary, input, output, ...more };
}

/** One row a transformation; names as SecLang spells them (compared without case). */
export const transformationTable: readonly TransformationRow[] = [
  row(
    'none',
    'Drops the transformations before it, inherited ones included.',
    't:lowercase,t:none',
    'no transformation',
  ),
  row('base64Decode', 'Decodes Base64; stops at the first character that is none.', 'YWJj', 'abc'),
  row('base64DecodeExt', 'Decodes Base64 and skips characters that are none.', 'Y.W.J.j', 'abc'),
  row('base64Encode', 'Encodes as Base64.', 'abc', 'YWJj'),
  row(
    'cmdLine',
    'Undoes shell escapes: quotes, carets, backslashes, commas, blanks; lower case.',
    'c^a"t" /etc',
    'cat/etc',
    { aliases: ['cmd_line'] },
  ),
  row('compressWhitespace', 'Turns every run of white space into one space.', 'a \\t b', 'a b'),
  row('cssDecode', 'Decodes CSS 2 escapes.', 'ja\\76 ascript', 'javascript'),
  row('escapeSeqDecode', 'Decodes ANSI C escapes.', '\\x41\\102', 'AB'),
  row('hexDecode', 'Decodes pairs of hex digits.', '414243', 'ABC'),
  row('hexEncode', 'Encodes as pairs of hex digits.', 'ABC', '414243'),
  row('htmlEntityDecode', 'Decodes numeric and named HTML entities.', '&lt;&#x61;', '<a'),
  row('jsDecode', 'Decodes JavaScript escapes.', '\\u0041', 'A'),
  row('length', 'The length in bytes, in decimal.', 'abc', '3'),
  row('lowercase', 'ASCII letters to lower case.', 'AbC', 'abc'),
  row('md5', 'The raw MD5 digest.', 'abc', '16 bytes'),
  row(
    'normalizePath',
    'Removes doubled slashes, self references and parent references of a path.',
    '/a//b/../c',
    '/a/c',
    { aliases: ['normalisePath'] },
  ),
  row(
    'normalizePathWin',
    'As normalizePath, after backslashes became slashes.',
    '\\a\\..\\b',
    '/b',
    { aliases: ['normalisePathWin'] },
  ),
  row('parityEven7bit', 'Sets the eighth bit of each byte to even parity.', '0x01', '0x81'),
  row('parityOdd7bit', 'Sets the eighth bit of each byte to odd parity.', '0x03', '0x83'),
  row('parityZero7bit', 'Clears the eighth bit of each byte.', '0xC1', '0x41'),
  row(
    'phpArgsNames',
    'Rewrites an argument name as PHP does before it becomes a variable.',
    'a.b c',
    'a_b_c',
    { source: 'libmodsecurity 3, t:phpArgsNames' },
  ),
  row('removeComments', 'Removes C, SQL and HTML comments.', 'a/*x*/b', 'ab'),
  row('removeCommentsChar', 'Removes the characters that begin and end comments.', '/*x*/', 'x'),
  row('removeNulls', 'Removes NUL bytes.', 'a\\0b', 'ab'),
  row('removeWhitespace', 'Removes white space.', 'a b', 'ab'),
  row('replaceComments', 'Turns each C comment into one space.', 'a/*x*/b', 'a b'),
  row('replaceNulls', 'Turns NUL bytes into spaces.', 'a\\0b', 'a b'),
  row('sha1', 'The raw SHA-1 digest.', 'abc', '20 bytes'),
  row('sqlHexDecode', 'Decodes SQL hex literals.', '0x414243', 'ABC'),
  row('trim', 'Removes white space at both ends.', ' a ', 'a'),
  row('trimLeft', 'Removes white space at the start.', ' a', 'a'),
  row('trimRight', 'Removes white space at the end.', 'a ', 'a'),
  row('uppercase', 'ASCII letters to upper case.', 'AbC', 'ABC', { source: coraza }),
  row('urlDecode', 'Decodes %XX and plus.', 'a%20b+c', 'a b c'),
  row('urlDecodeUni', 'As urlDecode, and decodes %uXXXX with the unicode map.', '%u0041', 'A'),
  row('urlEncode', 'Encodes as %XX and plus.', 'a b', 'a+b'),
  row('utf8toUnicode', 'Turns UTF-8 sequences into %uXXXX.', '0xC3 0xA9', '%u00e9'),
];
