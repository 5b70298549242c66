/**
 * Names of files with character references, which Django opens, under Standard and Light with every
 * ruleset: a forbidden name is refused however its letters are written, other names pass.
 */

import { describe, expect, test } from 'vitest';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { rulesetFolders, sendInProcess, templateEngine } from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;
const php = ['x.php', 'x.p&#104p', 'x.p&#x00068p', '&#120.php'];
const htaccess = ['.htaccess', '&#46htaccess', '.&#104taccess'];
const benign = ['x.png', 'AT&T.png', 'caf&eacute;.png', 'R&D report.pdf', '&#1055&#1088.png'];

function statusOf(engine: PolicyEngine, fileName: string): number {
  const disposition = `Content-Disposition: form-data; name="f"; filename="${fileName}"`;
  const body = `--B\r\n${disposition}\r\nContent-Type: image/png\r\n\r\nx\r\n--B--\r\n`;
  const headers = { 'Content-Type': 'multipart/form-data; boundary=B' };
  return sendInProcess(engine, { url: '/upload', method: 'POST', headers, body }).status;
}

describe.each(rulesetFolders)('$name', ({ folder }) => {
  test.each([
    ['Standard', [...php, ...htaccess]],
    ['Light', []],
  ])('%s', { timeout: timeoutMs }, async (template, refused) => {
    const engine = await templateEngine(template, folder);
    const statuses = (names: readonly string[]): string[] =>
      names.map((name) => `${name} ${statusOf(engine, name)}`);
    expect(statuses(refused)).toEqual(refused.map((name) => `${name} 403`));
    expect(statuses(benign)).toEqual(benign.map((name) => `${name} 0`));
    engine.retire();
  });
});
