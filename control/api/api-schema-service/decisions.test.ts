/** Tests that a refused decision on the coverage of a document names the terms of the API. */

import { expect, test } from 'vitest';
import { decideCoverage } from './decisions.ts';

test('a scope without a decision names the states of the specification', () => {
  const scope = { host: 'shop.test', basePath: '/v1', sha256: 'a' } as unknown as Parameters<
    typeof decideCoverage
  >[0][number];
  expect(() => decideCoverage([scope], [])).toThrow(
    'the scope shop.test/v1 needs a decision: partial or authoritative_complete',
  );
});
