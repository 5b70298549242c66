/**
 * Proof that virtual patches do what their documents say: 595 known faults through the API with
 * a running engine, their requests through the live proxy, and patches that must be refused.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readYaml } from '../../control/documents/yaml-text.ts';
import { describeCase, type DescribedCase } from '../agree/described-case.ts';
import { startLiveWaf, type LiveWaf } from '../agree/live-waf.ts';

type Json = Readonly<Record<string, unknown>>;

interface StatedRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly expect: 'match' | 'pass';
}

interface PatchDocument {
  readonly id: string;
  readonly title: string;
  readonly requests: readonly StatedRequest[];
}

const file = new URL('../../deploy/patches/known-faults.yaml', import.meta.url);
const documents = readYaml(readFileSync(file, 'utf8'), 'known-faults.yaml').map(
  ({ value }) => value as PatchDocument,
);
const log4j = documents[0]!;

let waf: LiveWaf;
let policyId = '';
/** A policy without patches: what is refused is compiled with its policy first. */
let bareId = '';
let rulesetId = '';
/** Number of each patch's rule. */
const numbers = new Map<string, number>();

beforeAll(async () => {
  waf = await startLiveWaf();
  await waf.serve(async () => {
    const policy = { name: 'patched' };
    const made = await waf.ask('PolicyService/CreatePolicy', { policy });
    const { id, crsRulesetId } = made['policy'] as { id: string; crsRulesetId: string };
    policyId = id;
    const upstreams = [{ inline: { url: waf.originUrl } }];
    const site = { name: 'a', primaryHost: 'a.test', upstreams, waf: { enabled: true, policyId } };
    await waf.ask('SiteService/CreateSite', { site });
    rulesetId = crsRulesetId;
    const bare = await waf.ask('PolicyService/CreatePolicy', { policy: { name: 'bare' } });
    bareId = (bare['policy'] as { id: string }).id;
    await waf.ask('SystemService/Apply', { manifestYaml: manifestOf('patched', documents) });
    for (const page of [1, 2, 3]) {
      const asked = { policyId, page: { page, pageSize: 200 } };
      const { items = [] } = await waf.ask('CustomRuleService/ListCustomRules', asked);
      for (const rule of items as { ruleId: string; visualSpec: { patch: { id: string } } }[]) {
        numbers.set(rule.visualSpec.patch.id, Number(rule.ruleId));
      }
    }
    if (numbers.size !== documents.length) throw new Error('not every patch has a rule');
  });
}, 600_000);
afterAll(() => waf.close());

/** A policy with these patches, as a call takes it. */
function manifestOf(name: string, patches: readonly PatchDocument[]): string {
  const customRules = patches.map((patch) => {
    const { name: title, visualSpec } = ruleOf(patch);
    return { name: title, visualSpec };
  });
  const spec = { crsRulesetRef: rulesetId, engineState: 'on', customRules };
  const manifest = { apiVersion: 'waf.io/v1', kind: 'Policy', metadata: { name }, spec };
  return Buffer.from(JSON.stringify(manifest)).toString('base64');
}

function ruleOf({ title, ...patch }: PatchDocument): Json {
  return { policyId, name: title, enabled: true, visualSpec: { patch } };
}

function caseOf({ method = 'GET', url, headers = {}, body = '' }: StatedRequest): DescribedCase {
  const lines = [`${method} ${url} HTTP/1.1`, 'Host: a.test'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (!Object.keys(headers).some((name) => /^connection$/i.test(name)))
    lines.push('Connection: close');
  if (body !== '' || method === 'POST') lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  const wire = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`).toString('base64');
  const made = describeCase({ title: url, wire_b64: wire });
  if (typeof made === 'string') throw new Error(made);
  return made;
}

test('there are at least 590 faults, each once', () => {
  expect(documents.length).toBeGreaterThanOrEqual(590);
  expect(new Set(documents.map(({ id }) => id)).size).toBe(documents.length);
});

describe('live traffic', () => {
  const rows = documents.flatMap((document) =>
    document.requests.map(
      (request) => [document.id, request.expect, request.url, document, request] as const,
    ),
  );
  test.each(rows)('%s: %s %s', async (id, expected, _url, _document, request) => {
    const outcome = await waf.send(caseOf(request));
    const hit = outcome.rules.some((rule) => rule.startsWith(`${numbers.get(id)}/`));
    expect(hit).toBe(expected === 'match');
    if (hit) expect(outcome).toMatchObject({ blocked: true, status: 403 });
  });
});

describe('refused', () => {
  const stated = (change: Json): PatchDocument => ({ ...log4j, ...change });
  const pass = { url: '/', expect: 'pass' };
  const attack = log4j.requests[0];
  const cases: readonly (readonly [string, Json, string])[] = [
    ['no request that it stops', { requests: [pass] }, 'patch.requests: must have an attack'],
    ['no request that passes', { requests: [attack] }, 'patch.requests: must have a request'],
    [
      'an attack that it does not stop',
      { requests: [{ ...pass, expect: 'match' }, pass] },
      'patch.requests[0]: is to match, but the patch does not match it',
    ],
    [
      'a good request that it stops',
      { requests: [attack, { ...attack, expect: 'pass' }] },
      'patch.requests[1]: is to pass, but the patch matches it',
    ],
    ['an end that is over', { expires: '2020-01-01' }, 'patch.expires: is over'],
    ['an end that is no time', { expires: 'soon' }, 'patch.expires: must be a date'],
    ['no condition', { conditions: [] }, 'patch.conditions: needs at least one'],
    ['an unknown field', { cve: 'x' }, 'patch: Unknown field. Allowed: id,'],
    [
      'an unknown place',
      { conditions: [{ in: 'tail', is: 'x' }] },
      'conditions[0].in: must be one',
    ],
    ['two operators', { conditions: [{ in: 'path', is: 'x', ends: 'y' }] }, 'exactly one of'],
    [
      'a name without members',
      { conditions: [{ in: 'path', name: 'x', is: 'y' }] },
      '.name: is for',
    ],
    [
      'a pattern too large',
      { conditions: [{ in: 'path', matches: '(a{999}){999}' }] },
      'the pattern',
    ],
    ['a reference that is none', { references: ['x'] }, 'references[0]: must be an address'],
    ['an id that ends the text', { id: "x',deny" }, 'patch.id: must be the id of a fault'],
  ];
  test.each(cases)('%s', async (_name, change, problem) => {
    const answer = await waf.control.call('CustomRuleService/CreateCustomRule', {
      rule: { ...ruleOf(stated(change)), policyId: bareId },
    });
    expect(answer.body['code']).toBe('invalid_argument');
    expect(answer.text).toContain(problem);
  });
});

test('one patch among others that does not do what it states is named', async () => {
  const [attack] = log4j.requests;
  const asked = { ...attack!, expect: 'pass' } as const;
  const passing = { ...documents[1]!, requests: [...documents[1]!.requests, asked] };
  const ineffective = {
    ...documents[3]!,
    requests: [
      { ...asked, expect: 'match' },
      { ...asked, url: '/' },
    ],
  };
  const apply = async (...patches: PatchDocument[]): Promise<unknown> => {
    const manifestYaml = manifestOf('several', patches);
    return (await waf.control.call('SystemService/Apply', { manifestYaml })).body;
  };
  const others = documents.slice(4, 12);
  expect(await apply(log4j, passing, ...others)).not.toHaveProperty('code');
  const place = 'spec.customRules[1].visualSpec.patch.requests[0]';
  expect(await apply(log4j, ineffective as PatchDocument, ...others)).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining(`${place}: is to match, but the patch does not match it`),
  });
});

test('a patch that ends matches until then only', async () => {
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const rule = { ...ruleOf({ ...log4j, expires } as PatchDocument), enabled: true };
  const shown = await waf.ask('CustomRuleService/PreviewCustomRule', { rule });
  const seconds = Math.floor(Date.parse(expires) / 1000);
  expect(shown['seclang']).toContain(`SecRule TIME_EPOCH "@lt ${seconds}"`);
});
