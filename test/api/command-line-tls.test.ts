/** The proof of whom the command line trusts: its own installation, --ca-file, or anybody. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiClient, explainCallError } from '../../control/cli/api-client.ts';
import type { GlobalOptions } from '../../control/cli/global-options.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

let waf: TestControl;
let options: GlobalOptions;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, managementTls: 'own' });
  const login = await waf.call('AuthService/Login', { username: 'admin', password: waf.password });
  options = {
    api: `https://127.0.0.1:${waf.control.managementPort}`,
    token: String(login.body['accessToken']),
    caFile: undefined,
    insecure: false,
    data: join(waf.folder, 'elsewhere'),
    adminSocket: waf.socket,
    logLevel: 'info',
    logFormat: 'json',
    output: 'json',
    credentials: join(waf.folder, 'credentials'),
  };
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

/** What a call comes to: the version's presence, or the sentence that a person gets. */
async function call(change: Partial<GlobalOptions>): Promise<string> {
  const all = { ...options, ...change };
  try {
    const { build } = await createApiClient(all).system.version({});
    return build?.version === '' ? 'no version' : 'answered';
  } catch (error) {
    return (explainCallError(error, all) as Error).message;
  }
}

test('the authority in the data folder, --ca-file, --insecure and the socket are enough', async () => {
  expect(await call({ data: waf.folder })).toBe('answered');
  expect(await call({ caFile: join(waf.folder, 'tls', 'ca.pem') })).toBe('answered');
  expect(await call({ insecure: true })).toBe('answered');
  expect(await call({ api: undefined, token: undefined })).toBe('answered');
});

test('anything else is refused with what to do', async () => {
  expect(await call({})).toMatch(/is not trusted: give --ca-file/);
  const stranger = { caFile: join(waf.folder, 'admin-password') };
  expect(await call(stranger)).toMatch(/is not trusted|cannot be read|PEM/);
  expect(await call({ caFile: join(waf.folder, 'none.pem') })).toMatch(/^--ca-file: .* cannot be/);
  const plain = `http://127.0.0.1:${waf.control.managementPort}`;
  expect(await call({ api: plain })).toMatch(/^failed_precondition: this address speaks HTTPS/);
});
