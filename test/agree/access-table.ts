/**
 * The table of IP lists and countries: one row per sentence of the specification, with the request
 * that shows it. Addresses are loopback ones, so that real connections have them.
 */

/** What decides; what is left out is as most rows have it. */
export interface Binding {
  readonly list?: readonly string[];
  /** Address and milliseconds since the start at which its entry lapses. */
  readonly lapses?: readonly (readonly [network: string, atMs: number])[];
  readonly countries?: readonly string[];
  readonly kind?: 'allow' | 'deny' | 'monitor';
  readonly bypass?: 'all_waf' | 'ip_lists_only';
  readonly source?: 'client_ip' | 'peer_ip';
  readonly match?: 'in_list' | 'not_in_list';
  readonly path?: string;
  readonly order?: number;
  readonly place?: { readonly policyId?: string; readonly siteId?: string };
  readonly tenantId?: string;
}

/** One sentence. */
export interface AccessRow {
  readonly says: string;
  readonly bindings: readonly Binding[];
  /** The site's policy; '' with the WAF off. Default `p`. */
  readonly policyId?: string;
  /** Address that the connection comes from. Default 127.0.0.1. */
  readonly peer?: string;
  /** The client that a trusted peer names. */
  readonly client?: string;
  /** Default `/`. */
  readonly path?: string;
  /** The request is an attack that the rules block with 406. */
  readonly attack?: boolean;
  /** Milliseconds after the start. */
  readonly atMs?: number;
  readonly status: number;
  /** `guard action rule` in order; `rule` is the place in `bindings`. */
  readonly notes?: readonly string[];
  /** What the last note says was skipped. */
  readonly skipped?: string;
}

const me = ['127.0.0.1'];
const deny = { list: me } as const;
const allow = { list: me, kind: 'allow' } as const;
const monitor = { list: me, kind: 'monitor' } as const;
const denied = ['ip deny 0'];
const site = { siteId: 's' };
const policy = { policyId: 'p' };

const lists: readonly AccessRow[] = [
  { says: 'deny refuses addresses in the list', bindings: [deny], status: 403, notes: denied },
  { says: 'others pass', bindings: [{ list: ['127.0.0.2'] }], status: 200 },
  { says: 'a network holds its addresses', bindings: [{ list: ['127.0.0.0/8'] }], status: 403 },
  { says: 'an empty list holds nobody', bindings: [{ list: [] }], status: 200 },
  {
    says: 'not_in_list refuses whom the list does not hold',
    bindings: [{ list: ['127.0.0.2'], match: 'not_in_list' }],
    status: 403,
    notes: denied,
  },
  {
    says: 'not_in_list lets whom the list holds pass',
    bindings: [{ list: me, match: 'not_in_list' }],
    status: 200,
  },
  {
    says: 'monitor records and lets pass',
    bindings: [monitor],
    status: 200,
    notes: ['ip monitor 0'],
  },
  {
    says: 'what follows a monitor decides, and both are recorded',
    bindings: [monitor, { ...deny, order: 1 }],
    status: 403,
    notes: ['ip monitor 0', 'ip deny 1'],
  },
  {
    says: 'the first that allows or denies decides, lower order first',
    bindings: [
      { ...deny, order: 2 },
      { ...allow, order: 1 },
    ],
    status: 200,
  },
  {
    says: 'the first that denies decides, lower order first',
    bindings: [
      { ...deny, order: 1 },
      { ...allow, order: 2 },
    ],
    status: 403,
    notes: denied,
  },
  {
    says: 'of equal order the one with the lower id comes first',
    bindings: [deny, allow],
    status: 403,
  },
  {
    says: 'the site comes before the policy, whatever the order',
    bindings: [
      { ...deny, place: policy, order: 0 },
      { ...allow, place: site, order: 9 },
    ],
    status: 200,
  },
  {
    says: 'the policy comes before the deployment',
    bindings: [
      { ...deny, order: 0 },
      { ...allow, place: policy, order: 9 },
    ],
    status: 200,
  },
  {
    says: 'a binding of the site decides on it',
    bindings: [{ ...deny, place: site }],
    status: 403,
  },
  {
    says: 'a binding of another site does not',
    bindings: [{ ...deny, place: { siteId: 'other' } }],
    status: 200,
  },
  {
    says: 'a binding of the policy decides where the policy protects',
    bindings: [{ ...deny, place: policy }],
    status: 403,
  },
  {
    says: 'also where the site gets a variant of the policy',
    bindings: [{ ...deny, place: policy }],
    policyId: 'p~s',
    status: 403,
  },
  {
    says: 'a binding of the policy does not decide where the WAF is off',
    bindings: [{ ...deny, place: policy }],
    policyId: '',
    status: 200,
  },
  {
    says: 'a binding of the deployment decides where the WAF is off',
    bindings: [deny],
    policyId: '',
    status: 403,
  },
  {
    says: 'a binding of a site under another policy does not decide',
    bindings: [{ ...deny, place: { siteId: 's', policyId: 'q' } }],
    status: 200,
  },
  {
    says: 'a binding of another tenant does not decide',
    bindings: [{ ...deny, tenantId: 'other' }],
    status: 200,
  },
  {
    says: 'a path prefix takes whole segments',
    bindings: [{ ...deny, path: '/admin' }],
    path: '/administrator',
    status: 200,
  },
  {
    says: 'a path prefix holds itself',
    bindings: [{ ...deny, path: '/admin' }],
    path: '/admin?x=1',
    status: 403,
  },
  {
    says: 'a path prefix holds what lies below, without case',
    bindings: [{ ...deny, path: '/admin' }],
    path: '/Admin/users',
    status: 403,
  },
  {
    says: 'a denied path is denied however it is written: escapes',
    bindings: [{ ...deny, path: '/admin' }],
    path: '/%61dmin',
    status: 403,
  },
  {
    says: 'a denied path is denied however it is written: dot segments',
    bindings: [{ ...deny, path: '/admin' }],
    path: '/open/../admin',
    status: 403,
  },
  {
    says: 'a denied path is denied however it is written: several slashes',
    bindings: [{ ...deny, path: '/admin' }],
    path: '//admin',
    status: 403,
  },
  {
    says: 'an allowed path must be meant by every reading',
    bindings: [
      { ...allow, path: '/open' },
      { ...deny, order: 1 },
    ],
    path: '/open/../admin',
    status: 403,
    notes: ['ip deny 1'],
  },
  {
    says: 'an allowed path is allowed',
    bindings: [
      { ...allow, path: '/open' },
      { ...deny, order: 1 },
    ],
    path: '/open/x',
    status: 200,
  },
  {
    says: 'the client is whom a trusted peer names',
    bindings: [{ list: ['192.0.2.7'] }],
    peer: '127.0.0.9',
    client: '192.0.2.7',
    status: 403,
  },
  {
    says: 'a peer that is not trusted names nobody',
    bindings: [{ list: ['192.0.2.7'] }],
    client: '192.0.2.7',
    status: 200,
  },
  {
    says: 'peer_ip looks at the connection, whoever is named',
    bindings: [{ list: ['127.0.0.9'], source: 'peer_ip' }],
    peer: '127.0.0.9',
    client: '192.0.2.7',
    status: 403,
  },
  {
    says: 'client_ip does not look at a trusted peer',
    bindings: [{ list: ['127.0.0.9'] }],
    peer: '127.0.0.9',
    client: '192.0.2.7',
    status: 200,
  },
  {
    says: 'an IPv6 client is found',
    bindings: [{ list: ['2001:db8::/32'] }],
    peer: '127.0.0.9',
    client: '2001:db8::7',
    status: 403,
  },
  {
    says: 'an entry decides until it lapses',
    bindings: [{ lapses: [['127.0.0.1', 1000]] }],
    atMs: 999,
    status: 403,
  },
  {
    says: 'an entry that lapsed decides no more, without a publication',
    bindings: [{ lapses: [['127.0.0.1', 1000]] }],
    atMs: 1000,
    status: 200,
  },
];

const bypasses: readonly AccessRow[] = [
  { says: 'attacks are blocked by the rules', bindings: [], attack: true, status: 406 },
  {
    says: 'all_waf skips the rules, and the event says it',
    bindings: [{ ...allow, bypass: 'all_waf' }],
    attack: true,
    status: 200,
    notes: ['ip bypass 0'],
    skipped: 'waf',
  },
  {
    says: 'all_waf skips country rules too',
    bindings: [{ ...allow, bypass: 'all_waf' }, { countries: ['DE'] }],
    attack: true,
    status: 200,
    notes: ['ip bypass 0'],
    skipped: 'country waf',
  },
  {
    says: 'ip_lists_only skips country rules; the rules still inspect',
    bindings: [allow, { countries: ['DE'] }],
    attack: true,
    status: 406,
    notes: ['ip bypass 0'],
    skipped: 'country',
  },
  {
    says: 'ip_lists_only ends the lists; the rules still inspect',
    bindings: [allow, { ...deny, order: 1 }],
    attack: true,
    status: 406,
    notes: [],
  },
  {
    says: 'what denies comes before the rules',
    bindings: [deny],
    attack: true,
    status: 403,
    notes: denied,
  },
  {
    says: 'a country that allows with all_waf skips the rules',
    bindings: [{ countries: ['DE'], kind: 'allow', bypass: 'all_waf' }],
    attack: true,
    status: 200,
    notes: ['country bypass 0'],
    skipped: 'waf',
  },
  {
    says: 'a list that denies is not overruled by a country',
    bindings: [deny, { countries: ['DE'], kind: 'allow', bypass: 'all_waf', place: site }],
    status: 403,
    notes: denied,
  },
];

const elsewhere = { peer: '127.0.0.9', client: '198.51.100.1' } as const;

const countries: readonly AccessRow[] = [
  {
    says: 'deny refuses clients of the country',
    bindings: [{ countries: ['DE'] }],
    status: 403,
    notes: ['country deny 0'],
  },
  { says: 'others pass (country)', bindings: [{ countries: ['FR', 'US'] }], status: 200 },
  {
    says: 'not_in_list refuses all other countries',
    bindings: [{ countries: ['FR'], match: 'not_in_list' }],
    status: 403,
  },
  {
    says: 'not_in_list lets the country pass',
    bindings: [{ countries: ['DE'], match: 'not_in_list' }],
    status: 200,
  },
  {
    says: 'an address without a country is in no list of them',
    bindings: [{ countries: ['DE'] }],
    ...elsewhere,
    status: 200,
  },
  {
    says: 'an address without a country is refused where only some countries pass',
    bindings: [{ countries: ['DE'], match: 'not_in_list' }],
    ...elsewhere,
    status: 403,
  },
  {
    says: 'monitor records and lets pass (country)',
    bindings: [{ countries: ['DE'], kind: 'monitor' }],
    status: 200,
    notes: ['country monitor 0'],
  },
  {
    says: 'the first country rule that allows or denies decides',
    bindings: [
      { countries: ['DE'], order: 2 },
      { countries: ['DE'], kind: 'allow', order: 1 },
    ],
    status: 200,
  },
  {
    says: 'the site comes before the deployment (country)',
    bindings: [
      { countries: ['DE'], order: 0 },
      { countries: ['DE'], kind: 'allow', order: 9, place: site },
    ],
    status: 200,
  },
  {
    says: 'peer_ip looks at the country of the connection',
    bindings: [{ countries: ['DE'], source: 'peer_ip' }],
    ...elsewhere,
    status: 403,
  },
  {
    says: 'a country rule of another tenant does not decide',
    bindings: [{ countries: ['DE'], tenantId: 'other' }],
    status: 200,
  },
  {
    says: 'a list that only watches leaves the country to decide',
    bindings: [monitor, { countries: ['DE'] }],
    status: 403,
    notes: ['ip monitor 0', 'country deny 1'],
  },
];

/** Every row. */
export const accessTable: readonly AccessRow[] = [...lists, ...bypasses, ...countries];
