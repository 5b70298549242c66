/** The test files that draw more in a soak (`test/support/soak.ts`). */

/** Paths from the root. */
export const soakFiles = [
  'engine/detect/literals.test.ts',
  'engine/detect/open/open.test.ts',
  'engine/detect/sql/telling-words.test.ts',
  'engine/detect/sql/tokens.test.ts',
  'engine/match/regex-tail.test.ts',
  'engine/match/regex.test.ts',
  'native-bindings/scan-program.test.ts',
  'native-bindings/xss-prefilter.test.ts',
  'test/agree/changes.test.ts',
  'test/agree/replay.test.ts',
  'test/agree/templates.test.ts',
  'test/backends/differential.test.ts',
  'test/fault/proxy-soak.test.ts',
  'test/fault/store-kill.test.ts',
  'test/fault/swaps.test.ts',
  'test/fuzz/corpus-agrees.test.ts',
  'test/fuzz/crs-variants.test.ts',
  'test/fuzz/many-values.test.ts',
  'test/fuzz/node-messages.test.ts',
  'test/fuzz/prefilter.test.ts',
  'test/fuzz/rpc.test.ts',
  'test/fuzz/run-against-oracle.test.ts',
  'test/http/differential.test.ts',
  'test/http/inspected-is-forwarded.test.ts',
];
