/** Runs the printed script as far as its download: which authority it trusts then. */

import { spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTestCertificate } from '../../../test/support/test-certificates.ts';
import { scriptFor } from './node-installation.ts';

/** Answers for the authority what a server shows, and ends at the download of the program. */
const curl = `#!/bin/sh
here=$(dirname "$0")
while [ $# -gt 0 ]; do
  case "$1" in
    -o) to=$2; shift ;;
    --cacert) trusted=$2; shift ;;
    https://*) url=$1 ;;
  esac
  shift
done
case "$url" in
  */bootstrap/ca.pem) cp "$here/shown.pem" "$to" ;;
  *) cp "$trusted" "$here/trusted.pem"; exit 7 ;;
esac
`;

test('the printed script trusts the authority of the command and none that came with it', async () => {
  const own = (await makeTestCertificate({ subject: 'CN=own', authority: true })).cert;
  const other = (await makeTestCertificate({ subject: 'CN=other', authority: true })).cert;
  const authority = createHash('sha256').update(new X509Certificate(own).raw).digest('hex');
  const controllerUrl = 'https://waf.example:9080';
  const facts = { controllerUrl, token: 'enroll-1.x', authority, keys: [] };
  const run = (shown: string): { code: number | null; folder: string } => {
    const folder = mkdtempSync(join(tmpdir(), 'waf-script-'));
    writeFileSync(join(folder, 'curl'), curl, { mode: 0o755 });
    writeFileSync(join(folder, 'shown.pem'), shown);
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}`, TMPDIR: folder };
    const { status } = spawnSync('sh', ['-c', scriptFor(facts, true)], { env, encoding: 'utf8' });
    return { code: status, folder };
  };
  const both = run(own + other);
  const trusted = readFileSync(join(both.folder, 'trusted.pem'), 'utf8');
  expect(both.code).toBe(7);
  expect(trusted.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
  expect(new X509Certificate(trusted).raw).toEqual(new X509Certificate(own).raw);
  const wrong = run(other + own);
  expect(wrong.code).toBe(1);
  for (const { folder } of [both, wrong]) rmSync(folder, { recursive: true });
});
