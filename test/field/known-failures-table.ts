/**
 * Cases of the field corpus that the product does not pass, each with the reason. A case that
 * passes must leave this table: the test fails while it stands here.
 */

const name = 'a file name in prose is taken for an attack under Light';
const missed = 'an attack that the rules of Light do not see';
const graphql = 'a GraphQL document with line ends is taken for an attack under Light';

/** Name of the case to the reason. */
export const knownFailures: Readonly<Record<string, string>> = {
  '002-apostrophe-filename': name,
  '022-value-builtin': 'the word builtin in a value is taken for a shell command under Light',
  '023c-upload-name': name,
  '030-shell-zero-var': missed,
  '030b-path-assign': missed,
  '034-basic-auth-newline': 'line ends in decoded Basic credentials are not noticed',
  '119-json-deep-graphql': graphql,
  '119e-graphql-newlines': graphql,
};
