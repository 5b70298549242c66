/** Tests which Content-Transfer-Encoding parts may have under Light: those that change nothing. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InspectedUnder } from '../backends/inspected.ts';
import { corpusRoot } from './corpus.ts';

const timeoutMs = 600_000;
const versions = [
  ['3.3.4', '/usr/share/modsecurity-crs/rules'],
  ['4.28.0', path.join(corpusRoot, 'crs/4.28.0/rules')],
].filter(([, rules]) => existsSync(rules!)) as [string, string][];

describe.each(versions)('Light with CRS %s', (version, rules) => {
  let light: InspectedUnder;
  beforeAll(async () => {
    light = await InspectedUnder.start('template-light', version, rules);
  }, timeoutMs);
  afterAll(() => light?.close());

  test.each([
    ['8bit', false],
    ['7BIT', false],
    [' binary ', false],
    ['base64', true],
    ['quoted-printable', true],
    ['8bit, base64', true],
    ['x-uuencode', true],
  ])('Content-Transfer-Encoding: %s', (encoding, refused) => {
    const field = 'Content-Disposition: form-data; name="a"';
    const lines = [field, `Content-Transfer-Encoding: ${encoding}`];
    const body = ['--B', ...lines, '', 'hello', '--B--', ''].join('\r\n');
    const found = light.inspect({
      kind: 'multipart',
      method: 'POST',
      target: '/',
      headers: [['Content-Type', 'multipart/form-data; boundary=B']],
      body: Buffer.from(body),
    });
    expect([found.refused, found.rules.includes(199_408)]).toEqual([refused, refused]);
  });
});
