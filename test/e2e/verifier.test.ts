/**
 * A service that verifies people, through the whole product: set by the command line with a local
 * stand-in, its answers decide in the thread that serves the client, and events name the reason.
 */

import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { answerOf, readPageText, solve } from '../support/challenge-solver.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';
import { startVerifierStub, type VerifierStub } from '../support/verifier-stub.ts';

if (missingBuild !== null) console.log(missingBuild);

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly requestId: string;
}

describe.skipIf(missingBuild !== null)('people verified by a service', () => {
  let product: Product;
  let stub: VerifierStub;
  beforeAll(async () => {
    stub = await startVerifierStub();
    product = await borrowProduct();
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(await waf('site list --output json')) ?? [];
    const secret = join(product.data, 'secret.txt');
    writeFileSync(secret, 'hidden-secret\n');
    await waf('system settings-set --set outgoing.allowed_networks=["127.0.0.0/8"]');
    await waf(`site create --name asked --host asked.test --upstream ${origin}`);
    await waf(
      `bot verifier-set stub --kind turnstile --host asked.test --site-key k --secret-file ${secret}` +
        ` --script-url http://127.0.0.1:${stub.port}/api.js` +
        ` --verify-url http://127.0.0.1:${stub.port}/siteverify`,
    );
    await waf('bot set asked --mode human --difficulty 12');
    await eventually(async () => (await ask('/')).body.includes('cf-turnstile'));
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    await stub?.close();
  });

  // Beside this process, which answers for the service.
  const waf = (line: string): Promise<string> => product.wafBeside(...line.split(' '));

  function ask(path: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { host: 'asked.test', accept: 'text/html' };
      get({ port: product.proxyPort, path, headers, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        const requestId = String(response.headers['x-request-id'] ?? '');
        const status = response.statusCode ?? 0;
        response.on('end', () => resolve({ status, body, requestId }));
      }).on('error', reject);
    });
  }

  async function handIn(response: string): Promise<Answer> {
    const page = readPageText((await ask('/')).body);
    const rest = `nonce=${solve(page)}&response=${response}`;
    return ask(`/.waf-check/answer?token=${page.token}&${rest}`);
  }

  test('its verdicts decide, and the secret is sent to it only', async () => {
    stub.answer = { success: true, hostname: 'asked.test' };
    expect((await handIn('one')).status).toBe(303);
    expect(stub.forms.map((form) => form.get('secret'))).toEqual(['hidden-secret']);
    expect((await handIn('one')).status).toBe(403);
    stub.answer = { success: true, hostname: 'other.test' };
    expect((await handIn('two')).status).toBe(403);
    expect(stub.forms).toHaveLength(2);
    expect(await waf('system settings --output json')).not.toContain('hidden-secret');
    expect(product.output()).not.toContain('hidden-secret');
  });

  test('one that fails leads to the question, and the event has why', async () => {
    stub.answer = (response) => response.writeHead(503).end();
    const failed = await handIn('three');
    expect([failed.status, /How much is/.test(failed.body)]).toEqual([403, true]);
    const question = readPageText(failed.body);
    const answer = `answer=${answerOf(question)}&nonce=${solve(question)}`;
    const solved = await ask(`/.waf-check/answer?token=${question.token}&${answer}`);
    expect(solved.status).toBe(303);
    const asked = ['log', 'security', '--request-id', failed.requestId, '--output', 'json'];
    const found = await eventually(() => {
      const { stdout } = product.waf(...asked);
      return stdout.includes('bot_verifier_failed') ? stdout : null;
    });
    expect(found).toContain('it answered with status 503');
  });
});
