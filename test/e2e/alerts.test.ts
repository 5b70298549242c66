/** Attacks on the live product fire an alert, and its message arrives at a webhook, signed. */

import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver, type Receiver } from '../support/alert-receivers.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

if (missingBuild !== null) console.log(missingBuild);

const attacks = 12;
const secret = 'signs messages';

describe.skipIf(missingBuild !== null)('alerts', () => {
  let product: Product;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    product = await borrowProduct();
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    await receiver?.close();
  });

  function ask(path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      get({ port: product.proxyPort, path, headers: { host: 'localhost' } }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      }).on('error', reject);
    });
  }

  const attack = (at: number): Promise<number> => ask(`/?q=${at}%27%20OR%20%271%27=%271`);

  async function applyAlerts(): Promise<void> {
    const documents = [
      ['Settings', 'default', { 'outgoing.allowed_networks': ['127.0.0.0/8'] }],
      [
        'AlertChannel',
        'hook',
        { kind: 'webhook', config: { url: `${receiver.url}/hook`, secret } },
      ],
      [
        'AlertRule',
        'attacks',
        {
          severity: 'critical',
          condition: {
            kind: 'security_threshold',
            filter: { outcome: 'blocked', attackTypes: ['sqli'] },
            ...{ threshold: attacks, windowSeconds: 600 },
          },
          channels: ['hook'],
        },
      ],
    ].map(([kind, name, spec]) =>
      JSON.stringify({ apiVersion: 'waf.io/v1', kind, metadata: { name }, spec }),
    );
    const path = join(product.data, 'alerts.yaml');
    writeFileSync(path, documents.join('\n---\n'));
    await product.wafBeside('apply', '-f', path);
  }

  test('a threshold of blocked attacks fires once, and its message is signed', async () => {
    await applyAlerts();
    for (let at = 0; at < attacks; at += 1) expect(await attack(at)).toBe(403);
    expect(await ask('/')).toBe(200);
    const message = await eventually(() => receiver.of('/hook')[0] ?? null);
    const [, seconds, digest] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(message.headers['waf-signature'])) ?? [];
    const signed = createHmac('sha256', secret).update(`${seconds}.${message.body}`);
    expect(digest).toBe(signed.digest('hex'));
    expect(JSON.parse(message.body)).toMatchObject({
      event: 'firing',
      alert: { severity: 'critical' },
    });
    // More of the same is the same alert, and no further message before its time.
    expect(await attack(attacks)).toBe(403);
    const listed = await product.wafBeside('alert', 'list', '--output', 'json');
    expect((JSON.parse(listed) as { items: object[] }).items).toHaveLength(1);
    expect(receiver.of('/hook')).toHaveLength(1);
  });
});
