/**
 * `waf crs update` as an operator meets it: a ruleset made older than that of the corpus, and the
 * corpus' own as the signed release that follows it.
 */

import { mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packArchive, packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import { readRulesetFolder } from '../../control/publish/rulesets/ruleset-folder.ts';
import { crs4Folder } from '../crs/standard-proxy.ts';
import { adminCall } from '../support/admin-call.ts';
import { eventually } from '../support/eventually.ts';
import { signDetached, testSigner } from '../support/openpgp-signer.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

type Json = Record<string, unknown>;

const absent = missingBuild ?? (existsSync(crs4Folder) ? null : 'skipped: no corpus');
if (absent !== null) console.log(absent);

/** A rule that only the older release has, and the file that only the newer one has. */
const olderRule = `SecRule ARGS "@streq legacyprobe" "id:930999,phase:2,block,msg:'Old probe',severity:'CRITICAL',ver:'OWASP_CRS/4.27.0',setvar:'tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}'"\n`;
const newerFile = 'REQUEST-930-APPLICATION-ATTACK-LFI.conf';

/** The corpus' ruleset as if it were the release before it. */
function olderRelease(): Buffer {
  const { files } = readRulesetFolder(crs4Folder);
  return packArchive(
    files.map(({ path, content }) => {
      const text = Buffer.from(content).toString('latin1').replaceAll('4.28.0', '4.27.0');
      const kept = path.endsWith(newerFile) ? olderRule : text;
      return { path: path.replace(/^crs\//, 'release/'), content: Buffer.from(kept, 'latin1') };
    }),
  );
}

describe.skipIf(absent !== null)('waf crs update', () => {
  let product: Product;
  let origin: Server;
  let folder: string;
  let release: string;
  let policyId: string;
  const signer = testSigner();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'waf-crs-'));
    release = join(folder, 'coreruleset-4.28.0-minimal.tar.gz');
    const archive = packFolder(crs4Folder);
    writeFileSync(release, archive);
    writeFileSync(`${release}.asc`, signDetached(signer, archive));
    writeFileSync(join(folder, 'security.asc'), signer.publicKey);
    origin = createServer((_request, response) => response.end('from the origin'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await borrowProduct('--no-demo');
    const values = { 'crs.signing_keys': [signer.fingerprint] };
    await call('SystemService/UpdateSystemSettings', { values });
    const { ruleset } = await call('SystemService/ImportCrsRuleset', {
      archive: olderRelease().toString('base64'),
    });
    const policy = {
      name: 'shop',
      crsRulesetId: (ruleset as Json)['id'],
      engineState: 'ENGINE_STATE_ON',
      blockingMode: 'BLOCKING_MODE_ANOMALY',
      crsCore: { decision: 'DECISION_CRS' },
    };
    policyId = ((await call('PolicyService/CreatePolicy', { policy }))['policy'] as Json)[
      'id'
    ] as string;
    const { port } = origin.address() as AddressInfo;
    await call('SiteService/CreateSite', {
      site: {
        name: 'shop',
        primaryHost: 'shop.example',
        upstreams: [{ inline: { url: `http://127.0.0.1:${port}`, weight: 1 } }],
        waf: { enabled: true, policyId, mode: 'WAF_MODE_BLOCKING' },
      },
    });
    await serves();
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = async (rpc: string, body: Json): Promise<Json> => {
    const answer = await adminCall(product.data, rpc, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const serves = (): Promise<boolean> =>
    eventually(async () => {
      const state = await call('AgentService/GetNodeServingState', { nodeId: 'local' });
      return state['publishing'] !== true && state['acknowledged'] === true;
    }, 300_000);
  const ask = async (path: string): Promise<number> => {
    const headers = { host: 'shop.example' };
    const answer = await request(`http://127.0.0.1:${product.proxyPort}${path}`, {
      headers,
      reset: true,
    });
    await answer.body.dump();
    return answer.statusCode;
  };
  /** Statuses of what both block, only the older, only the newer, and neither. */
  const statuses = async (): Promise<number[]> => {
    const paths = ["?a=1'+union+select+1,2--+-", '?a=legacyprobe', '.git/config', '?a=1'];
    const found: number[] = [];
    for (const path of paths) found.push(await ask(`/${path}`));
    return found;
  };
  const older = [403, 403, 200, 200];
  const newer = [403, 200, 403, 200];

  test('a release with a forged signature, or of another key, is refused', async () => {
    expect(await statuses()).toEqual(older);
    const forged = join(folder, 'forged.asc');
    writeFileSync(forged, signDetached(testSigner(), packFolder(crs4Folder)));
    const first = product.waf('crs', 'update', release, '--signature', forged);
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('signature: is not of this archive by the key');
    const other = join(folder, 'other.asc');
    writeFileSync(other, testSigner().publicKey);
    const second = product.waf('crs', 'update', release, '--key', other);
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringMatching(/publicKey: has the fingerprint [0-9A-F]{40}, which no setting trusts/),
    ]);
    expect(product.waf('crs', 'list').stdout).not.toContain('4.28.0');
  }, 300_000);

  test('a signed release is imported and its impact shown; nothing changes yet', async () => {
    const { code, stdout, stderr } = product.waf('crs', 'update', release);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`signed by ${signer.fingerprint}`)]);
    expect(stdout).toMatch(/shop +crs-4\.27\.0-\w+ +[1-9]\d* +1 +\d+ +0 +no/);
    expect(await statuses()).toEqual(older);
  }, 300_000);

  test('--shadow compares it with live traffic, and blocks nothing', async () => {
    const { code, stderr } = product.waf('crs', 'update', release, '--shadow', '1h');
    expect([code, stderr]).toEqual([0, expect.stringContaining('waf crs shadow ')]);
    const run = (): Json => {
      const { stdout } = product.waf('crs', 'shadow', 'shop', '--output', 'json');
      return (JSON.parse(stdout) as { run: Json }).run;
    };
    // The node builds the second policy beside the one that serves.
    await eventually(async () => {
      expect(await statuses()).toEqual(older);
      return run()['bothPassed'] !== undefined;
    }, 300_000);
    const kinds = ['bothBlocked', 'onlyCurrent', 'onlyNew'];
    await eventually(() => kinds.every((kind) => run()[kind] !== undefined));
    const found = run();
    expect(found).toMatchObject({ running: true, policyId });
    const examples = found['examples'] as Json[];
    expect(examples).toContainEqual(
      expect.objectContaining({ onlyNew: true, method: 'GET', path: '/.git/config' }),
    );
    const current = examples.find(({ onlyNew }) => onlyNew === undefined);
    expect(current).toMatchObject({ path: '/', ruleIds: expect.arrayContaining([930999]) });
    expect(product.waf('crs', 'shadow', 'shop').stdout).toMatch(/the other ruleset +GET +\/\.git/);
    const used = String(found['crsRulesetId']);
    expect(product.waf('crs', 'delete', used).stderr).toContain('shadow runs of policies use it');
    expect(product.waf('crs', 'shadow-stop', 'shop').stdout).toContain('ended');
    await serves();
    expect(await statuses()).toEqual(older);
    expect(run()['running']).toBeUndefined();
  }, 600_000);

  test('--switch moves the policy, and the printed command moves it back', async () => {
    const { code, stderr } = product.waf('crs', 'update', release, '--switch');
    expect(code, stderr).toBe(0);
    expect(await statuses()).toEqual(newer);
    const back = /Back: waf (.*)/.exec(stderr)?.[1] ?? '';
    expect(product.waf(...back.split(' ')).code).toBe(0);
    expect(await statuses()).toEqual(older);
  }, 600_000);
});
