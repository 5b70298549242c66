/** TX, the persistent collections, ENV and GEO as variables. */

import { encodeUtf8 } from '../../../../base/byte-string.ts';
import type { StoredText } from '../../../base/stored-change.ts';
import type { PersistentName, Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import type { Entry } from '../../transaction/values.ts';
import { collection, scalar } from './define.ts';

/** TX first; it is asked for most. */
export const collectionVariables: readonly VariableDefinition[] = [
  collection(
    {
      name: 'TX',
      summary: 'Variables of this transaction; captures are TX:0 to TX:9.',
      example: 'SecRule TX:score "@ge 5"',
    },
    (tx) => tx.tx.entries(),
    (tx, key) => {
      const value = tx.tx.get(key);
      return value === undefined ? null : { key, value };
    },
  ),
  persistent('IP', 'ip', 'initcol:ip=%{REMOTE_ADDR}'),
  persistent('GLOBAL', 'global', 'initcol:global=global'),
  persistent('SESSION', 'session', 'setsid'),
  persistent('USER', 'user', 'setuid'),
  persistent('RESOURCE', 'resource', 'setrsc'),
  collection(
    {
      name: 'ENV',
      summary: 'What setenv set, then what the operator lets rules see.',
      example: 'SecRule ENV:tag "suspicious"',
    },
    (tx) => [...tx.env, ...tx.ports.env].map(([key, value]) => ({ key, value })),
  ),
  collection(
    {
      name: 'GEO',
      summary: 'What the last @geoLookup found.',
      example: 'SecRule GEO:COUNTRY_CODE "!@streq DE"',
    },
    (tx) => [...(tx.geo ?? [])].map(([key, value]) => ({ key, value: encodeUtf8(value) })),
    (tx, key) => {
      const value = tx.geo?.get(key.toUpperCase());
      return value === undefined ? null : { key: key.toUpperCase(), value: encodeUtf8(value) };
    },
  ),
  scalar(
    { name: 'SESSIONID', summary: 'What setsid set.', example: 'SecRule SESSIONID "!^$"' },
    (tx) => tx.sessionId,
  ),
  scalar(
    { name: 'USERID', summary: 'What setuid set.', example: 'SecRule USERID "@streq admin"' },
    (tx) => tx.userId,
  ),
  scalar(
    {
      name: 'WEBAPPID',
      summary: 'What SecWebAppId says.',
      example: 'SecRule WEBAPPID "@streq shop"',
    },
    (tx) => tx.webAppId,
  ),
];

/** Empty until `opener` opened it; values that have expired are not there. */
function persistent(name: string, from: PersistentName, opener: string): VariableDefinition {
  const texts = {
    name,
    summary: `The collection that ${opener} opened.`,
    example: `SecRule ${name}:counter "@gt 10"`,
  };
  const live = (tx: Transaction, stored: StoredText): boolean =>
    stored.expiresAtMs === 0 || stored.expiresAtMs > tx.ports.clock.nowMs();
  return collection(
    texts,
    (tx) => {
      const found: Entry[] = [];
      for (const [key, stored] of tx.persistent.get(from)?.values ?? []) {
        if (live(tx, stored)) found.push({ key, value: stored.value });
      }
      return found;
    },
    (tx, key) => {
      const stored = tx.persistent.get(from)?.values.get(key);
      return stored === undefined || !live(tx, stored) ? null : { key, value: stored.value };
    },
  );
}
