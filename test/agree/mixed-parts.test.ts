/**
 * Multipart types other than form-data under Light, with every ruleset: what clients send passes,
 * an attack in any kind of part does not, nor does what readers cut in different places.
 */

import { describe, expect, test } from 'vitest';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import {
  attackRows,
  benignRows,
  differentRows,
  longRow,
  type MixedRow,
} from './mixed-parts-table.ts';
import { rulesetFolders, sendInProcess, templateEngine } from './policy-in-process.ts';
import type { TableAnswer } from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;

function send(engine: PolicyEngine, { type, body }: MixedRow): TableAnswer {
  const bytes = Buffer.from(body.replaceAll('|', '\r\n').replaceAll('%%', '|'), 'latin1');
  const headers = { 'Content-Type': type };
  return sendInProcess(engine, { url: '/upload', method: 'POST', headers, body: bytes });
}

describe.each(rulesetFolders)('$name', ({ folder }) => {
  test('Light and multipart types', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Light', folder);
    const refused = benignRows.flatMap((row) => {
      const { status, rules } = send(engine, row);
      return status === 0 ? [] : [`${row.title}: ${rules.join(' ')}`];
    });
    expect(refused, 'what clients send').toEqual([]);
    const passed = attackRows.flatMap((row) => (send(engine, row).status === 0 ? [row.title] : []));
    expect(passed, 'attacks').toEqual([]);
    const read = differentRows.flatMap((row) =>
      send(engine, row).status === 0 ? [row.title] : [],
    );
    expect(read, 'what readers cut differently').toEqual([]);
    engine.retire();
  });

  test('parts in later windows of long bodies', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Light', folder);
    const clean = send(engine, longRow('{"title":"New","amount":5}'));
    const attack = send(engine, longRow('{"title":"\\u0027 or 1=1 union select 1,2 -- "}'));
    engine.retire();
    expect(clean.status).toBe(0);
    // Heads of parts are no headers that somebody injects.
    expect(clean.rules.filter((rule) => rule > 900_000 && rule < 949_000)).toEqual([]);
    expect(attack.rules).toContain(942_100);
  });
});
