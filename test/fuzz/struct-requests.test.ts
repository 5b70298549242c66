/** The proof that no content of a free-form object breaks a request that is right otherwise. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../support/test-control.ts';

let waf: TestControl;
let policyId = '';

beforeAll(async () => {
  waf = await startTestControl();
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'layers' } });
  policyId = (made.body['policy'] as { id: string }).id;
});
afterAll(() => waf.control.close());

/** What stands in the place of an object; undefined leaves it out. */
const contents: readonly unknown[] = [
  ...[undefined, null, {}, [], '', 'x', 0, -1, 1e308, true],
  ...[{ '': null }, { x: 1 }, { a: { b: [[[{}]]] } }, { ['__proto__x']: {} }],
  ...['plugins', 'bindings', 'values', 'conditions', 'url', 'recipients', 'argLength'].flatMap(
    (name) =>
      [null, {}, [], '', 1, true, [null], [1], [{}], [[]], ['x'], { x: [] }].map((value) => ({
        [name]: value,
      })),
  ),
];

const revision = async (): Promise<unknown> => {
  const { body } = await waf.call('PolicyService/GetPolicy', { id: policyId });
  return (body['policy'] as { revision: string }).revision;
};

const layers = ['CRS_CORE', 'HTTP_POLICY', 'ARG_LIMITS', 'IP_LIST_BINDINGS', 'PLUGINS'];
/** Requests with a free-form object, by what stands in its place. */
const requests: readonly (readonly [string, (content: unknown) => Promise<object> | object])[] = [
  ...layers.map(
    (layer) =>
      [
        'PolicyService/UpdatePolicyLayer',
        async (config: unknown) => {
          const kind = `POLICY_LAYER_KIND_${layer}`;
          return { policyId, revision: await revision(), layer: kind, config };
        },
      ] as const,
  ),
  [
    'CustomRuleService/CreateFromTemplate',
    (parameters) => ({ policyId, templateId: 'block-path', parameters }),
  ],
  [
    'CustomRuleService/CreateCustomRule',
    (visualSpec) => ({ rule: { policyId, name: 'r', mode: 'VISUAL', visualSpec } }),
  ],
  [
    'CrsService/UpsertPolicyExclusionPlugin',
    (config) => ({ binding: { policyId, pluginId: 'p', config } }),
  ],
  ['SystemService/UpdateSystemSettings', (values) => ({ values })],
  [
    'AlertService/UpsertAlertChannel',
    (config) => ({ channel: { name: 'c', kind: 'ALERT_CHANNEL_KIND_WEBHOOK', config } }),
  ],
];

test('no content of a free-form object is an internal error', async () => {
  for (const [rpc, bodyOf] of requests) {
    for (const content of contents) {
      const body = await bodyOf(content);
      const { status, body: answer } = await waf.call(rpc, body);
      const shown = `${rpc} ${JSON.stringify(body)}: ${JSON.stringify(answer).slice(0, 200)}`;
      expect([200, 400, 403, 404, 409, 412], shown).toContain(status);
    }
  }
});

test.each([{}, { plugins: [] }, { plugins: null }])(
  'the layer of plugins is emptied by %j',
  async (config) => {
    const kind = 'POLICY_LAYER_KIND_PLUGINS';
    const body = { policyId, revision: await revision(), layer: kind, config };
    const { status, body: answer } = await waf.call('PolicyService/UpdatePolicyLayer', body);
    expect([status, (answer['policy'] as { plugins?: unknown }).plugins]).toEqual([200, undefined]);
  },
);

test.each([[], null, undefined, 'x', { plugin: [] }, { plugins: {} }, { plugins: [null] }])(
  'the layer of plugins does not take %j',
  async (config) => {
    const kind = 'POLICY_LAYER_KIND_PLUGINS';
    const body = { policyId, revision: await revision(), layer: kind, config };
    const { body: answer } = await waf.call('PolicyService/UpdatePolicyLayer', body);
    expect(answer).toMatchObject({ code: 'invalid_argument' });
    expect(String(answer['message'])).toMatch(/^config/);
  },
);
