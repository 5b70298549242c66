/** Rows on the answers that an operator words: templates, scenarios, and who reads which. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { inspectedBy, listCall, policyCalls, siteCall } from './chain-row.ts';

const attack = '/?id=1%27%20OR%20%271%27=%271';

/** Scenario, its request, how it is recorded, and the status and words that the operator chose. */
interface Scenario {
  readonly kind: string;
  readonly site: string;
  readonly path: string;
  readonly from?: number;
  readonly expected: Omit<ChainExpected, 'status'>;
  readonly status: number;
}

const scenarios: readonly Scenario[] = [
  {
    ...{ kind: 'waf_block', site: 'wording-waf', path: attack, status: 406 },
    expected: { with: [942_100] },
  },
  {
    ...{ kind: 'ip_deny', site: 'wording', path: '/listed', status: 410 },
    expected: { guards: ['ip deny'], uninspected: true },
  },
  {
    ...{ kind: 'country_deny', site: 'wording-country', path: '/', status: 451 },
    expected: { guards: ['country deny'], uninspected: true },
  },
  {
    ...{ kind: 'rate_limit', site: 'wording', path: '/often', status: 420 },
    expected: { guards: ['rate_limit deny'], uninspected: true },
  },
];

type Reader = readonly [says: string, headers: Readonly<Record<string, string>>, html: boolean];
const readers: readonly Reader[] = [
  ['a browser', { accept: 'text/html,*/*;q=0.8' }, true],
  ['a program', { accept: 'application/json' }, false],
  ['anybody', {}, false],
];

/** A body of each template; all have the same facts. */
const bodies = {
  html: { body: '<h1>own {{response.kind}} {{response.title}}</h1>', contentType: 'text/html' },
  json: {
    body: '{"own":"{{response.kind}}","title":"{{response.title}}","at":"{{request.time}}"}',
    contentType: 'application/problem+json',
  },
  plain: {
    body: 'own {{response.kind}} {{response.status_code}} {{response.message}}',
    contentType: 'text/plain',
  },
  custom: {
    body: '<own kind="{{response.kind}}" by="{{response.source}}"/>',
    contentType: 'application/xml',
  },
} as const;
type Template = keyof typeof bodies;

/** What a client reads of it. */
const read: Readonly<Record<Template, (one: Scenario) => string>> = {
  html: ({ kind }) => `<h1>own ${kind} Own &lt;${kind}&gt;</h1>`,
  json: ({ kind }) => `{"own":"${kind}","title":"Own <${kind}>","at":"2`,
  plain: ({ kind, status }) => `own ${kind} ${status} Words of ${kind}.`,
  custom: ({ kind }) => `<own kind="${kind}" by="waf"/>`,
};

const settings = (active: string): SetupCall => ({
  rpc: 'SystemService/UpdateSystemSettings',
  body: {
    values: {
      'security.responses.config': {
        templates: { active, ...bodies },
        scenarios: Object.fromEntries(
          scenarios.map(({ kind, status }) => [
            kind,
            { statusCode: status, title: `Own <${kind}>`, message: `Words of ${kind}.` },
          ]),
        ),
      },
    },
  },
});

const rowsOf = (active: Template | 'auto'): ChainRow[] =>
  scenarios.flatMap((one) =>
    readers.map(([says, headers, html]): ChainRow => {
      const template = active === 'auto' ? (html ? 'html' : 'json') : active;
      const request: ChainRequest = { path: one.path, headers };
      return {
        says: `Responses, ${active}: ${one.kind} as ${says} reads it`,
        ...{ site: one.site, request },
        expected: {
          ...{ ...one.expected, status: one.status, body: read[template](one) },
          fields: { 'content-type': bodies[template].contentType, 'x-origin': null },
        },
      };
    }),
  );

const setup: readonly SetupCall[] = [
  ...policyCalls('wording', 'standard'),
  listCall('wording', ['127.0.0.0/8']),
  siteCall('wording'),
  siteCall('wording-waf', inspectedBy('wording')),
  siteCall('wording-country'),
  {
    rpc: 'IpListService/UpsertIpListBinding',
    body: {
      binding: {
        ...{ siteId: '$site:wording', ipListId: '$list:wording', kind: 'deny', sortOrder: 1 },
        ...{ addressSource: 'client_ip', matchMode: 'in_list', pathPrefix: '/listed' },
      },
    },
  },
  {
    rpc: 'CountryAccessService/UpsertCountryAccessRule',
    body: {
      rule: {
        ...{ name: 'wording', enabled: true, kind: 'deny', countryCodes: ['NL'] },
        ...{ addressSource: 'client_ip', matchMode: 'not_in_list', sortOrder: 1 },
        targets: [{ scope: 'site', siteId: '$site:wording-country' }],
      },
    },
  },
  {
    rpc: 'RateLimitService/UpsertRateLimitEndpoint',
    body: {
      endpoint: {
        ...{ siteId: '$site:wording', pathPattern: '/often', action: 'block' },
        ...{ enforcementMode: 'enforce', windowSeconds: 3_600, requestCount: 1 },
      },
    },
  },
];

/** Uses up the limit of the client's address in each way. */
const used: ChainRow = {
  says: 'Responses: before an operator words them, a request within its limit',
  ...{ site: 'wording', request: { path: '/often' }, expected: { status: 200, origin: 'a' } },
};

/** Groups by what is active; each sets it when its turn comes. */
export const wordingGroups: Readonly<Record<string, ChainGroup>> = {
  'wording before': { setup, rows: [used] },
  ...Object.fromEntries(
    (['auto', 'html', 'json', 'plain', 'custom'] as const).map((active) => [
      `wording ${active}`,
      { setup: [], later: [settings(active)], rows: rowsOf(active) },
    ]),
  ),
};
