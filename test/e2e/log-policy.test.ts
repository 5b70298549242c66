/** Runs the product: what the log policy says is what is kept, from the next request on. */

import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

let product: Product;

if (missingBuild !== null) console.log(missingBuild);

beforeAll(async () => {
  if (missingBuild === null) product = await borrowProduct();
}, 600_000);
afterAll(async () => {
  await product?.stop();
});

interface Event {
  readonly requestEvidence?: { readonly evidenceId?: string; readonly available?: boolean };
  readonly detailSelection?: { readonly policyRevision?: string };
}

/** One request to the demo site; its id. */
function ask(path: string, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const method = body === '' ? 'GET' : 'POST';
    const headers = body === '' ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const options = { port: product.proxyPort, path, method, headers, agent: false };
    const asked = request(options, (response) => {
      response.resume().on('end', () => resolve(String(response.headers['x-request-id'])));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

function must(...words: string[]): string {
  const { code, stdout, stderr } = product.waf(...words);
  if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${stderr}`);
  return stdout;
}

/** The event of a request, if it has come: the command fails where there is none. */
function found(kind: 'security' | 'access', id: string): Event | null {
  const words = ['log', kind, '--request-id', id, '--output', 'json'];
  const { code, stdout, stderr } = product.waf(...words);
  if (stderr !== '') throw new Error(`waf ${words.join(' ')}: ${stderr}`);
  return code === 0 ? ((JSON.parse(stdout) as { items?: Event[] }).items?.[0] ?? null) : null;
}

/** The only event of a request, once it and its evidence are there. */
async function eventOf(kind: 'security' | 'access', id: string): Promise<Event> {
  return eventually(() => {
    const event = found(kind, id);
    return event?.requestEvidence?.available === true ? event : null;
  });
}

test.skipIf(missingBuild !== null)(
  'blocked requests have evidence; a changed policy holds for the next request',
  async () => {
    const attack = '/?id=1%27%20OR%20%271%27=%271';
    const first = await eventOf('security', await ask(attack));
    expect(first.requestEvidence?.evidenceId).toMatch(/^ev-/);
    must(
      ...['log', 'policy-set', '--access', 'all', '--evidence', 'retained_logs'],
      ...['--evidence-body', 'full', '--acknowledge-storage-risk'],
    );
    const kept = await eventOf('access', await ask('/plain', 'a=1&b=2'));
    expect(kept.detailSelection).toMatchObject({ policyRevision: '2' });
    must('log', 'policy-set', '--access', 'none', '--evidence', 'off');
    const id = await ask('/plain');
    const attacked = await ask(attack);
    const seen = await eventually(() => found('security', attacked));
    expect(seen).toMatchObject({ requestEvidence: { unavailableReason: 'not_kept' } });
    expect(found('access', id)).toBeNull();
  },
);
