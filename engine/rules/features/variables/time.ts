/** TIME and its parts, in the process's time zone, from the injected clock. */

import type { Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import { scalar } from './define.ts';

/** In the order of the manual. */
export const timeVariables: readonly VariableDefinition[] = [
  scalar(
    {
      name: 'DURATION',
      summary: 'Milliseconds since the transaction began.',
      example: 'SecRule DURATION "@gt 1000"',
    },
    (tx) => Math.max(0, Math.floor((tx.ports.clock.monotonicUs() - tx.startedUs) / 1000)),
  ),
  part(
    'TIME',
    'hh:mm:ss',
    (d) => `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`,
  ),
  part('TIME_DAY', 'Day of the month, 01 to 31', (d) => two(d.getDate())),
  part('TIME_EPOCH', 'Seconds since 1970', (d) => String(Math.floor(d.getTime() / 1000))),
  part('TIME_HOUR', 'Hour, 00 to 23', (d) => two(d.getHours())),
  part('TIME_MIN', 'Minute, 00 to 59', (d) => two(d.getMinutes())),
  part('TIME_MON', 'Month, 0 to 11', (d) => String(d.getMonth())),
  part('TIME_SEC', 'Second, 00 to 59', (d) => two(d.getSeconds())),
  part('TIME_WDAY', 'Day of the week, 0 (Sunday) to 6', (d) => String(d.getDay())),
  part('TIME_YEAR', 'Year, four digits', (d) => String(d.getFullYear())),
];

function part(name: string, what: string, read: (date: Date) => string): VariableDefinition {
  const texts = { name, summary: `${what}.`, example: `SecRule ${name} "@streq x"` };
  return scalar(texts, (tx: Transaction) => read(new Date(tx.ports.clock.nowMs())));
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
