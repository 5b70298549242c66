/** Which authority of a controller is believed at enrollment. */

import { createHash, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeTestCertificate } from '../../../test/support/test-certificates.ts';
import { pinnedAuthority } from './agent-enroll.ts';

const url = 'https://waf.example:9080';

test('only the authority with the hash of the command is believed', async () => {
  const own = (await makeTestCertificate({ subject: 'CN=own', authority: true })).cert;
  const other = (await makeTestCertificate({ subject: 'CN=other', authority: true })).cert;
  const wanted = createHash('sha256').update(new X509Certificate(own).raw).digest('hex');
  const believed = pinnedAuthority(own + other, wanted, url);
  expect(believed.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
  expect(new X509Certificate(believed).raw).toEqual(new X509Certificate(own).raw);
  expect(() => pinnedAuthority(other + own, wanted, url)).toThrow('shows another authority');
  expect(() => pinnedAuthority('hello', wanted, url)).toThrow('shows no authority');
});
