/** What several controllers do not share is said, and nothing where there is one. */

import { expect, test } from 'vitest';
import { eventsApart } from './events-apart.ts';

const rows: readonly [string, boolean, boolean, readonly RegExp[]][] = [
  ['an embedded store', false, false, []],
  ['an embedded store and ClickHouse', false, true, []],
  ['a shared store', true, false, [/^events, evidence .*; set WAF_EVENTS_CLICKHOUSE at every/]],
  ['a shared store and ClickHouse', true, true, [/^evidence and traffic counts stay .* to$/]],
];

test.each(rows)('%s', (_what, isShared, hasClickhouse, wanted) => {
  const said = eventsApart(isShared, hasClickhouse);
  expect(said).toEqual(wanted.map((pattern) => expect.stringMatching(pattern) as string));
});
