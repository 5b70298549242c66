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

/** One row a transformation; names as SecLang spells them (compared without case). */
export const transformationTable: readonly TransformationRow[] = [
  {
    name: 'none',
    summary: 'Drops the transformations before it, inherited ones included.',
    input: 't:lowercase,t:none',
    output: 'no transformation',
  },
  {
    name: 'base64Decode',
    summary: 'Decodes Base64; stops at the first character that is none.',
    input: 'YWJj',
    output: 'abc',
  },
  {
    name: 'base64DecodeExt',
    summary: 'Decodes Base64 and skips characters that are none.',
    input: 'Y.W.J.j',
    output: 'abc',
  },
  { name: 'base64Encode', summary: 'Encodes as Base64.', input: 'abc', output: 'YWJj' },
  {
    name: 'cmdLine',
    aliases: ['cmd_line'],
    summary: 'Undoes shell escapes: quotes, carets, backslashes, commas, blanks; lower case.',
    input: 'c^a"t" /etc',
    output: 'cat/etc',
  },
  {
    name: 'compressWhitespace',
    summary: 'Turns every run of white space into one space.',
    input: 'a \\t b',
    output: 'a b',
  },
  {
    name: 'cssDecode',
    summary: 'Decodes CSS 2 escapes.',
    input: 'ja\\76 ascript',
    output: 'javascript',
  },
  {
    name: 'escapeSeqDecode',
    summary: 'Decodes ANSI C escapes.',
    input: '\\x41\\102',
    output: 'AB',
  },
  { name: 'hexDecode', summary: 'Decodes pairs of hex digits.', input: '414243', output: 'ABC' },
  { name: 'hexEncode', summary: 'Encodes as pairs of hex digits.', input: 'ABC', output: '414243' },
  {
    name: 'htmlEntityDecode',
    summary: 'Decodes numeric and named HTML entities.',
    input: '&lt;&#x61;',
    output: '<a',
  },
  { name: 'jsDecode', summary: 'Decodes JavaScript escapes.', input: '\\u0041', output: 'A' },
  { name: 'length', summary: 'The length in bytes, in decimal.', input: 'abc', output: '3' },
  { name: 'lowercase', summary: 'ASCII letters to lower case.', input: 'AbC', output: 'abc' },
  { name: 'md5', summary: 'The raw MD5 digest.', input: 'abc', output: '16 bytes' },
  {
    name: 'normalizePath',
    aliases: ['normalisePath'],
    summary: 'Removes doubled slashes, self references and parent references of a path.',
    input: '/a//b/../c',
    output: '/a/c',
  },
  {
    name: 'normalizePathWin',
    aliases: ['normalisePathWin'],
    summary: 'As normalizePath, after backslashes became slashes.',
    input: '\\a\\..\\b',
    output: '/b',
  },
  {
    name: 'parityEven7bit',
    summary: 'Sets the eighth bit of each byte to even parity.',
    input: '0x01',
    output: '0x81',
  },
  {
    name: 'parityOdd7bit',
    summary: 'Sets the eighth bit of each byte to odd parity.',
    input: '0x03',
    output: '0x83',
  },
  {
    name: 'parityZero7bit',
    summary: 'Clears the eighth bit of each byte.',
    input: '0xC1',
    output: '0x41',
  },
  {
    name: 'phpArgsNames',
    summary: 'Rewrites an argument name as PHP does before it becomes a variable.',
    input: 'a.b c',
    output: 'a_b_c',
    source: 'libmodsecurity 3, t:phpArgsNames',
  },
  {
    name: 'removeComments',
    summary: 'Removes C, SQL and HTML comments.',
    input: 'a/*x*/b',
    output: 'ab',
  },
  {
    name: 'removeCommentsChar',
    summary: 'Removes the characters that begin and end comments.',
    input: '/*x*/',
    output: 'x',
  },
  { name: 'removeNulls', summary: 'Removes NUL bytes.', input: 'a\\0b', output: 'ab' },
  { name: 'removeWhitespace', summary: 'Removes white space.', input: 'a b', output: 'ab' },
  {
    name: 'replaceComments',
    summary: 'Turns each C comment into one space.',
    input: 'a/*x*/b',
    output: 'a b',
  },
  { name: 'replaceNulls', summary: 'Turns NUL bytes into spaces.', input: 'a\\0b', output: 'a b' },
  { name: 'sha1', summary: 'The raw SHA-1 digest.', input: 'abc', output: '20 bytes' },
  { name: 'sqlHexDecode', summary: 'Decodes SQL hex literals.', input: '0x414243', output: 'ABC' },
  { name: 'trim', summary: 'Removes white space at both ends.', input: ' a ', output: 'a' },
  { name: 'trimLeft', summary: 'Removes white space at the start.', input: ' a', output: 'a' },
  { name: 'trimRight', summary: 'Removes white space at the end.', input: 'a ', output: 'a' },
  {
    name: 'uppercase',
    summary: 'ASCII letters to upper case.',
    input: 'AbC',
    output: 'ABC',
    source: coraza,
  },
  { name: 'urlDecode', summary: 'Decodes %XX and plus.', input: 'a%20b+c', output: 'a b c' },
  {
    name: 'urlDecodeUni',
    summary: 'As urlDecode, and decodes %uXXXX with the unicode map.',
    input: '%u0041',
    output: 'A',
  },
  { name: 'urlEncode', summary: 'Encodes as %XX and plus.', input: 'a b', output: 'a+b' },
  {
    name: 'utf8toUnicode',
    summary: 'Turns UTF-8 sequences into %uXXXX.',
    input: '0xC3 0xA9',
    output: '%u00e9',
  },
];
