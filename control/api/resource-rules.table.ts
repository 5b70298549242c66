/**
 * Owns the table of rules on sites, upstreams, certificates, node groups, nodes and settings: one
 * row a rule, in the order in which they run. `$name` stands for what an earlier row kept, or for a
 * certificate of the runner.
 */

/** One rule and the call that shows it. */
export interface RuleRow {
  /** The rule, in words. */
  readonly rule: string;
  /** Service and method. */
  readonly rpc: string;
  readonly body: object;
  /** Code of the refusal; absent for success. */
  readonly code?: string;
  /** What the message begins with: the field, for refusals. */
  readonly at?: string;
  /** Further text that the message must hold. */
  readonly says?: string;
  /** What the answer must hold. */
  readonly has?: object;
  /** What the answer must not hold. */
  readonly lacks?: string;
  /** Keeps `[name, path]` of the answer for later rows. */
  readonly keep?: readonly (readonly [string, string])[];
}

const inline = [{ inline: { url: 'http://127.0.0.1:3000', weight: 1 } }];
const active = 'RESOURCE_STATUS_ACTIVE';
const none = { mode: 'TLS_MODE_NONE' };
const create = 'SiteService/CreateSite';
const update = 'SiteService/UpdateSite';
const route = 'SiteService/UpdateSiteRouting';
const pool = 'UpstreamService/CreateUpstream';
const change = 'UpstreamService/UpdateUpstream';
const upload = 'CertService/UploadCert';
const dns = 'CertService/CreateDNSProvider';
const group = 'AgentGroupService/CreateAgentGroup';
const long = 'x'.repeat(129);
const credentialsJson = Buffer.from('{"apiToken":"s3cret-token"}').toString('base64');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const fine = { name: 'other', primaryHost: 'other.test', upstreams: inline };
const ends = [{ url: 'http://10.0.0.1:8080' }];

const upstreamRows: readonly RuleRow[] = [
  { rule: 'a pool is required', rpc: pool, body: {}, code: 'invalid_argument', at: 'upstream:' },
  {
    rule: 'a pool has a name',
    rpc: pool,
    body: { upstream: { endpoints: ends } },
    code: 'invalid_argument',
    at: 'upstream.name:',
  },
  {
    rule: 'a name of a pool is bounded',
    rpc: pool,
    body: { upstream: { name: long, endpoints: ends } },
    code: 'invalid_argument',
    at: 'upstream.name:',
  },
  {
    rule: 'a pool has endpoints',
    rpc: pool,
    body: { upstream: { name: 'p' } },
    code: 'invalid_argument',
    at: 'upstream.endpoints:',
  },
  {
    rule: 'an endpoint is a URL',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [{ url: 'nowhere' }] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[0].url:',
  },
  {
    rule: 'an endpoint speaks http or https',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [{ url: 'ftp://a' }] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[0].url:',
  },
  {
    rule: 'an endpoint has no path',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [{ url: 'http://a/b' }] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[0].url:',
  },
  {
    rule: 'an endpoint has no password',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [{ url: 'http://u:p@a' }] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[0].url:',
  },
  {
    rule: 'a port is not 0',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [{ url: 'http://a:0' }] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[0].url:',
  },
  {
    rule: 'an address stands once',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [...ends, ...ends] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[1].url:',
  },
  {
    rule: 'endpoints share a scheme',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [...ends, { url: 'https://10.0.0.2' }] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[1].url:',
  },
  {
    rule: 'a weight is bounded',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: [{ url: 'http://a', weight: 1001 }] } },
    code: 'invalid_argument',
    at: 'upstream.endpoints[0].weight:',
  },
  {
    rule: 'a health path begins with a slash',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: ends, healthCheck: { path: 'health' } } },
    code: 'invalid_argument',
    at: 'upstream.healthCheck.path:',
  },
  {
    rule: 'an expected status is one',
    rpc: pool,
    body: {
      upstream: { name: 'p', endpoints: ends, healthCheck: { path: '/', expectedStatus: 99 } },
    },
    code: 'invalid_argument',
    at: 'upstream.healthCheck.expectedStatus:',
  },
  {
    rule: 'a probe asks, it does not write',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: ends, healthCheck: { path: '/', method: 'POST' } } },
    code: 'invalid_argument',
    at: 'upstream.healthCheck.method:',
  },
  {
    rule: 'a probe ends before the next',
    rpc: pool,
    body: {
      upstream: {
        name: 'p',
        endpoints: ends,
        healthCheck: { path: '/', intervalSeconds: 5, timeoutSeconds: 6 },
      },
    },
    code: 'invalid_argument',
    at: 'upstream.healthCheck.timeoutSeconds:',
  },
  {
    rule: 'passive fails are bounded',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: ends, resilience: { passiveMaxFails: 1001 } } },
    code: 'invalid_argument',
    at: 'upstream.resilience.passiveMaxFails:',
  },
  {
    rule: 'a header that the proxy sets is refused',
    rpc: pool,
    body: {
      upstream: { name: 'p', endpoints: ends, requestHeaders: { 'Transfer-Encoding': 'chunked' } },
    },
    code: 'invalid_argument',
    at: 'upstream.requestHeaders:',
  },
  {
    rule: 'a header cannot smuggle another',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: ends, requestHeaders: { 'X-A': 'b\r\nX-C: d' } } },
    code: 'invalid_argument',
    at: 'upstream.requestHeaders:',
  },
  {
    rule: 'a header stands once',
    rpc: pool,
    body: { upstream: { name: 'p', endpoints: ends, requestHeaders: { 'X-A': '1', 'x-a': '2' } } },
    code: 'invalid_argument',
    at: 'upstream.requestHeaders:',
  },
  {
    rule: 'a health check has the defaults GET, 200, 30, 5, 3, 2; a policy 30, 2, 5, 250',
    rpc: pool,
    body: {
      upstream: {
        name: 'app',
        endpoints: [{ url: 'http://10.0.0.1:8080', weight: 3 }, { url: 'http://10.0.0.2:8080' }],
        healthCheck: { path: '/up' },
        resilience: { passiveHealthEnabled: true },
        requestHeaders: { Host: 'app.internal', 'X-Env': 'test' },
      },
    },
    has: {
      upstream: {
        name: 'app',
        status: active,
        healthCheck: {
          method: 'GET',
          expectedStatus: 200,
          intervalSeconds: 30,
          timeoutSeconds: 5,
          unhealthyThreshold: 3,
          healthyThreshold: 2,
        },
        resilience: {
          passiveFailDurationSeconds: 30,
          passiveMaxFails: 2,
          retryDurationSeconds: 5,
          retryIntervalMilliseconds: 250,
        },
      },
    },
    keep: [['pool', 'upstream.id']],
  },
  {
    rule: 'a name of a pool is unique',
    rpc: pool,
    body: { upstream: { name: 'app', endpoints: ends } },
    code: 'already_exists',
    at: 'upstream.name:',
  },
  {
    rule: 'a pool is found by name',
    rpc: 'UpstreamService/ListUpstreams',
    body: { query: 'AP' },
    has: { items: [{ id: '$pool' }], page: { total: '1' } },
  },
  {
    rule: 'an unknown pool is not found',
    rpc: 'UpstreamService/GetUpstream',
    body: { id: 'upstream-none' },
    code: 'not_found',
  },
  {
    rule: 'an id is required',
    rpc: 'UpstreamService/GetUpstream',
    body: {},
    code: 'invalid_argument',
    at: 'id:',
  },
  {
    rule: 'an update needs a mask',
    rpc: change,
    body: { upstream: { id: '$pool' } },
    code: 'invalid_argument',
    at: 'updateMask:',
  },
  {
    rule: 'a mask names known fields',
    rpc: change,
    body: { upstream: { id: '$pool' }, updateMask: 'name,createdAt' },
    code: 'invalid_argument',
    at: 'updateMask:',
  },
  {
    rule: 'unmasked fields stay',
    rpc: change,
    body: {
      upstream: { id: '$pool', name: 'ignored', description: 'shops' },
      updateMask: 'description',
    },
    has: { upstream: { name: 'app', description: 'shops', endpoints: [{ weight: 3 }, {}] } },
  },
  {
    rule: 'a masked field inside a message changes alone',
    rpc: change,
    body: {
      upstream: { id: '$pool', healthCheck: { expectedStatus: 204 } },
      updateMask: 'healthCheck.expectedStatus',
    },
    has: { upstream: { healthCheck: { path: '/up', expectedStatus: 204 } } },
  },
  {
    rule: 'a masked field that is left out is cleared',
    rpc: change,
    body: { upstream: { id: '$pool' }, updateMask: 'description' },
    has: { upstream: { name: 'app' } },
  },
  {
    rule: 'a change is checked like a creation',
    rpc: change,
    body: { upstream: { id: '$pool' }, updateMask: 'endpoints' },
    code: 'invalid_argument',
    at: 'upstream.endpoints:',
  },
  {
    rule: 'a second pool',
    rpc: pool,
    body: { upstream: { name: 'api', endpoints: ends } },
    has: { upstream: { name: 'api' } },
    keep: [['api', 'upstream.id']],
  },
  {
    rule: 'an idle pool can be disabled',
    rpc: change,
    body: { upstream: { id: '$api', status: 'RESOURCE_STATUS_DISABLED' }, updateMask: 'status' },
    has: { upstream: { status: 'RESOURCE_STATUS_DISABLED' } },
  },
  {
    rule: 'a site cannot use a disabled pool',
    rpc: create,
    body: { site: { ...fine, upstreams: [{ upstreamId: '$api' }] } },
    code: 'failed_precondition',
    at: 'site.upstreams[0].upstreamId:',
  },
  {
    rule: 'a pool is enabled again',
    rpc: change,
    body: { upstream: { id: '$api', status: active }, updateMask: 'status' },
    has: { upstream: { status: active } },
  },
  {
    rule: 'a status that nobody can give is refused',
    rpc: change,
    body: { upstream: { id: '$api', status: 'RESOURCE_STATUS_ERROR' }, updateMask: 'status' },
    code: 'invalid_argument',
    at: 'upstream.status:',
  },
  {
    rule: 'health without a report is unknown, not healthy',
    rpc: 'UpstreamService/ListUpstreamHealth',
    body: { upstreamIds: ['$api'] },
    has: {
      items: [
        {
          nodeId: 'local',
          upstreamId: '$api',
          endpointUrl: 'http://10.0.0.1:8080',
          status: 'unknown',
        },
        { nodeId: 'agent-1' },
        {},
        {},
      ],
      expectedNodeIds: ['local', 'agent-1', 'agent-2', 'agent-3'],
    },
  },
  {
    rule: 'health is asked for at most 200 pools',
    rpc: 'UpstreamService/ListUpstreamHealth',
    body: { upstreamIds: Array.from({ length: 201 }, (_, at) => `u${at}`) },
    code: 'invalid_argument',
    at: 'upstreamIds:',
  },
];

const certificateRows: readonly RuleRow[] = [
  {
    rule: 'a certificate has a name',
    rpc: upload,
    body: { certPem: '$leaf.cert', keyPem: '$leaf.key' },
    code: 'invalid_argument',
    at: 'name:',
  },
  {
    rule: 'a certificate is required',
    rpc: upload,
    body: { name: 'c', keyPem: '$leaf.key' },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'a certificate is PEM',
    rpc: upload,
    body: { name: 'c', certPem: base64('hello'), keyPem: '$leaf.key' },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'a certificate can be read',
    rpc: upload,
    body: {
      name: 'c',
      certPem: base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      keyPem: '$leaf.key',
    },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'a key is required',
    rpc: upload,
    body: { name: 'c', certPem: '$leaf.cert' },
    code: 'invalid_argument',
    at: 'keyPem:',
  },
  {
    rule: 'a key can be read',
    rpc: upload,
    body: { name: 'c', certPem: '$leaf.cert', keyPem: base64('no key') },
    code: 'invalid_argument',
    at: 'keyPem:',
  },
  {
    rule: 'a key without passphrase',
    rpc: upload,
    body: {
      name: 'c',
      certPem: '$leaf.cert',
      keyPem: base64(
        '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----',
      ),
    },
    code: 'invalid_argument',
    at: 'keyPem:',
    says: 'encrypted',
  },
  {
    rule: 'a key belongs to its certificate',
    rpc: upload,
    body: { name: 'c', certPem: '$leaf.cert', keyPem: '$mid.key' },
    code: 'invalid_argument',
    at: 'keyPem:',
  },
  {
    rule: 'an RSA key has 2048 bits',
    rpc: upload,
    body: { name: 'c', certPem: '$weak.cert', keyPem: '$weak.key' },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'a signature is not SHA-1',
    rpc: upload,
    body: { name: 'c', certPem: '$sha1.cert', keyPem: '$sha1.key', chainPem: ['$mid.pem'] },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'a certificate has not ended',
    rpc: upload,
    body: { name: 'c', certPem: '$ended.cert', keyPem: '$ended.key' },
    code: 'invalid_argument',
    at: 'certPem:',
    says: 'expired',
  },
  {
    rule: 'a certificate has begun',
    rpc: upload,
    body: { name: 'c', certPem: '$early.cert', keyPem: '$early.key' },
    code: 'invalid_argument',
    at: 'certPem:',
    says: 'not valid yet',
  },
  {
    rule: 'a certificate has alternative names',
    rpc: upload,
    body: { name: 'c', certPem: '$nameless.cert', keyPem: '$nameless.key' },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'a certificate is meant for servers',
    rpc: upload,
    body: { name: 'c', certPem: '$client.cert', keyPem: '$client.key' },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'an authority is no server',
    rpc: upload,
    body: { name: 'c', certPem: '$mid.cert', keyPem: '$mid.key', chainPem: ['$root.pem'] },
    code: 'invalid_argument',
    at: 'certPem:',
  },
  {
    rule: 'a chain is in order',
    rpc: upload,
    body: {
      name: 'c',
      certPem: '$leaf.cert',
      keyPem: '$leaf.key',
      chainPem: ['$root.pem', '$mid.pem'],
    },
    code: 'invalid_argument',
    at: 'chainPem[0]:',
  },
  {
    rule: 'a chain holds authorities',
    rpc: upload,
    body: { name: 'c', certPem: '$leaf.cert', keyPem: '$leaf.key', chainPem: ['$client.pem'] },
    code: 'invalid_argument',
    at: 'chainPem[0]:',
  },
  {
    rule: 'a chain leaves the certificate out',
    rpc: upload,
    body: { name: 'c', certPem: '$leaf.cert', keyPem: '$leaf.key', chainPem: ['$leaf.pem'] },
    code: 'invalid_argument',
    at: 'chainPem[0]:',
  },
  {
    rule: 'a chain is bounded',
    rpc: upload,
    body: {
      name: 'c',
      certPem: '$leaf.cert',
      keyPem: '$leaf.key',
      chainPem: Array.from({ length: 11 }, () => '$mid.pem'),
    },
    code: 'invalid_argument',
    at: 'chainPem:',
  },
  {
    rule: 'a good certificate is kept with its facts',
    rpc: upload,
    body: {
      name: 'shop',
      certPem: '$leaf.cert',
      keyPem: '$leaf.key',
      chainPem: ['$mid.pem', '$root.pem'],
    },
    has: { cert: { name: 'shop', dnsNames: ['shop.test', '*.shop.test'], issuer: 'CN=mid' } },
    keep: [['cert', 'cert.id']],
  },
  {
    rule: 'a certificate is kept once',
    rpc: upload,
    body: { name: 'again', certPem: '$leaf.cert', keyPem: '$leaf.key' },
    code: 'already_exists',
    at: 'certPem:',
  },
  {
    rule: 'a name of a certificate is unique',
    rpc: upload,
    body: { name: 'shop', certPem: '$second.cert', keyPem: '$second.key' },
    code: 'already_exists',
    at: 'name:',
  },
  {
    rule: 'a certificate and its chain in one text',
    rpc: upload,
    body: { name: 'bundle', certPem: '$bundled.cert', keyPem: '$bundled.key' },
    has: { cert: { dnsNames: ['bundled.test'] } },
    keep: [['bundle', 'cert.id']],
  },
  {
    rule: 'certificates are found by host',
    rpc: 'CertService/ListCerts',
    body: { query: 'shop.test' },
    has: { items: [{ id: '$cert' }], page: { total: '1' } },
  },
  {
    rule: 'a certificate is shown without its key',
    rpc: 'CertService/DownloadCert',
    body: { id: '$bundle' },
    has: { certPem: '$bundled.leaf' },
  },
  {
    rule: 'a key is handed out only when asked for',
    rpc: 'CertService/DownloadCert',
    body: { id: '$cert', includePrivateKey: true },
    has: { keyPem: '$leaf.key', chainPem: ['$mid.pem', '$root.pem'] },
  },
  {
    rule: 'handing a key out is audited',
    rpc: 'AuditService/QueryAudit',
    body: { resourceId: '$cert', action: 'export_key' },
    has: { items: [{ resourceType: 'certificate' }] },
  },
  {
    rule: 'an unused certificate can go',
    rpc: 'CertService/DeleteCert',
    body: { id: '$bundle' },
    has: { result: { id: '$bundle', changed: true } },
  },
  {
    rule: 'what is gone is not found',
    rpc: 'CertService/GetCert',
    body: { id: '$bundle' },
    code: 'not_found',
  },
  {
    rule: 'drivers are named',
    rpc: 'CertService/ListDNSProviderDrivers',
    body: {},
    has: { drivers: ['aliyun', 'cloudflare', 'route53'] },
  },
  {
    rule: 'a provider has a name',
    rpc: dns,
    body: { provider: 'cloudflare', credentialsJson },
    code: 'invalid_argument',
    at: 'name:',
  },
  {
    rule: 'a provider is a known driver',
    rpc: dns,
    body: { name: 'd', provider: 'paper', credentialsJson },
    code: 'invalid_argument',
    at: 'provider:',
  },
  {
    rule: 'a provider needs credentials',
    rpc: dns,
    body: { name: 'd', provider: 'cloudflare' },
    code: 'invalid_argument',
    at: 'credentialsJson:',
  },
  {
    rule: 'credentials are a JSON object',
    rpc: dns,
    body: { name: 'd', provider: 'cloudflare', credentialsJson: base64('[1]') },
    code: 'invalid_argument',
    at: 'credentialsJson:',
  },
  {
    rule: 'a zone is a domain',
    rpc: dns,
    body: { name: 'd', provider: 'cloudflare', credentialsJson, zones: ['*.a.test'] },
    code: 'invalid_argument',
    at: 'zones[0]:',
  },
  {
    rule: 'propagation is bounded',
    rpc: dns,
    body: { name: 'd', provider: 'cloudflare', credentialsJson, propagationSeconds: 3601 },
    code: 'invalid_argument',
    at: 'propagationSeconds:',
  },
  {
    rule: 'a wildcard managed by ACME needs a DNS provider',
    rpc: create,
    body: { site: { ...fine, primaryHost: '*.wild.test', tls: { mode: 'TLS_MODE_MANAGED_ACME' } } },
    code: 'failed_precondition',
    at: 'site.tls.mode:',
    says: 'site.primaryHost',
  },
  {
    rule: 'a provider is kept without its secret',
    rpc: dns,
    body: {
      name: 'cf',
      provider: 'cloudflare',
      zones: ['Wild.test.'],
      credentialsJson,
      settings: { account: 'a' },
    },
    has: {
      provider: {
        name: 'cf',
        zones: ['wild.test'],
        status: 'active',
        health: 'unknown',
        settings: { account: 'a' },
      },
    },
    keep: [['dns', 'provider.id']],
  },
  {
    rule: 'a name of a provider is unique',
    rpc: dns,
    body: { name: 'cf', provider: 'route53', credentialsJson },
    code: 'already_exists',
    at: 'name:',
  },
  {
    rule: 'an update replaces the account and keeps empty credentials',
    rpc: 'CertService/UpdateDNSProvider',
    body: { id: '$dns', name: 'cf', provider: 'cloudflare', zones: ['wild.test'] },
    has: { provider: { name: 'cf', status: 'active' } },
  },
  {
    rule: 'another driver needs other credentials',
    rpc: 'CertService/UpdateDNSProvider',
    body: { id: '$dns', name: 'cf', provider: 'route53' },
    code: 'invalid_argument',
    at: 'credentialsJson:',
  },
  {
    rule: 'providers are found by status',
    rpc: 'CertService/ListDNSProviders',
    body: { status: 'active', provider: 'cloudflare' },
    has: { items: [{ id: '$dns' }] },
  },
  {
    rule: 'a status of providers is a known one',
    rpc: 'CertService/ListDNSProviders',
    body: { status: 'asleep' },
    code: 'invalid_argument',
    at: 'status:',
  },
  {
    rule: 'with a provider the wildcard is accepted',
    rpc: create,
    body: {
      site: {
        ...fine,
        name: 'wild',
        primaryHost: '*.wild.test',
        tls: { mode: 'TLS_MODE_MANAGED_ACME' },
      },
    },
    has: {
      site: {
        tls: {
          mode: 'TLS_MODE_MANAGED_ACME',
          minVersion: 'TLS_VERSION_1_2',
          httpBehavior: 'TLS_HTTP_BEHAVIOR_SERVE_BOTH',
        },
      },
    },
    keep: [['wild', 'site.id']],
  },
  {
    rule: 'a provider that a site needs stays, and the site is named',
    rpc: 'CertService/DeleteDNSProvider',
    body: { id: '$dns' },
    code: 'failed_precondition',
    at: 'id:',
    says: '$wild',
  },
  {
    rule: 'the site goes',
    rpc: 'SiteService/DeleteSite',
    body: { id: '$wild' },
    has: { result: { changed: true } },
  },
  {
    rule: 'then the provider can go',
    rpc: 'CertService/DeleteDNSProvider',
    body: { id: '$dns' },
    has: { result: { changed: true } },
  },
  {
    rule: 'an order by ACME is not built',
    rpc: 'CertService/IssueACMECert',
    body: { name: 'a', dnsNames: ['a.test'] },
    code: 'unimplemented',
  },
];

const siteRows: readonly RuleRow[] = [
  { rule: 'a site is required', rpc: create, body: {}, code: 'invalid_argument', at: 'site:' },
  {
    rule: 'a site has a name',
    rpc: create,
    body: { site: { ...fine, name: ' ' } },
    code: 'invalid_argument',
    at: 'site.name:',
  },
  {
    rule: 'a name of a site is bounded',
    rpc: create,
    body: { site: { ...fine, name: long } },
    code: 'invalid_argument',
    at: 'site.name:',
  },
  {
    rule: 'a site has a host',
    rpc: create,
    body: { site: { name: 's', upstreams: inline } },
    code: 'invalid_argument',
    at: 'site.primaryHost:',
  },
  {
    rule: 'a host has no scheme',
    rpc: create,
    body: { site: { ...fine, primaryHost: 'http://a.test' } },
    code: 'invalid_argument',
    at: 'site.primaryHost:',
  },
  {
    rule: 'a host has no port',
    rpc: create,
    body: { site: { ...fine, primaryHost: 'a.test:80' } },
    code: 'invalid_argument',
    at: 'site.primaryHost:',
  },
  {
    rule: 'a host has no path',
    rpc: create,
    body: { site: { ...fine, primaryHost: 'a.test/x' } },
    code: 'invalid_argument',
    at: 'site.primaryHost:',
  },
  {
    rule: 'a wildcard stands first',
    rpc: create,
    body: { site: { ...fine, primaryHost: 'a.*.test' } },
    code: 'invalid_argument',
    at: 'site.primaryHost:',
  },
  {
    rule: 'an alias is a host',
    rpc: create,
    body: { site: { ...fine, aliases: ['b.test', 'c/d'] } },
    code: 'invalid_argument',
    at: 'site.aliases[1]:',
  },
  {
    rule: 'a host stands once in a site',
    rpc: create,
    body: { site: { ...fine, aliases: ['OTHER.test.'] } },
    code: 'invalid_argument',
    at: 'site.aliases[0]:',
  },
  {
    rule: 'an upstream is a pool or an endpoint',
    rpc: create,
    body: { site: { ...fine, upstreams: [{}] } },
    code: 'invalid_argument',
    at: 'site.upstreams[0]:',
  },
  {
    rule: 'a pool exists',
    rpc: create,
    body: { site: { ...fine, upstreams: [{ upstreamId: 'upstream-none' }] } },
    code: 'invalid_argument',
    at: 'site.upstreams[0].upstreamId:',
  },
  {
    rule: 'a pool is the only upstream',
    rpc: create,
    body: { site: { ...fine, upstreams: [...inline, { upstreamId: '$pool' }] } },
    code: 'invalid_argument',
    at: 'site.upstreams[1]:',
  },
  {
    rule: "headers of a pool are the pool's",
    rpc: create,
    body: {
      site: { ...fine, upstreams: [{ upstreamId: '$pool', requestHeaders: { 'X-A': 'b' } }] },
    },
    code: 'invalid_argument',
    at: 'site.upstreams[0].requestHeaders:',
  },
  {
    rule: 'a policy exists',
    rpc: create,
    body: { site: { ...fine, waf: { enabled: true, policyId: 'policy-none' } } },
    code: 'invalid_argument',
    at: 'site.waf.policyId:',
  },
  {
    rule: 'a template is no policy of a site',
    rpc: create,
    body: { site: { ...fine, waf: { enabled: true, policyId: 'template-light' } } },
    code: 'failed_precondition',
    at: 'site.waf.policyId:',
  },
  {
    rule: 'a status is active or disabled',
    rpc: create,
    body: { site: { ...fine, status: 'RESOURCE_STATUS_ERROR' } },
    code: 'invalid_argument',
    at: 'site.status:',
  },
  {
    rule: 'an uploaded certificate is named',
    rpc: create,
    body: { site: { ...fine, tls: { mode: 'TLS_MODE_UPLOADED' } } },
    code: 'invalid_argument',
    at: 'site.tls.certId:',
  },
  {
    rule: 'plain HTTP has no certificate',
    rpc: create,
    body: { site: { ...fine, tls: { ...none, certId: '$cert' } } },
    code: 'invalid_argument',
    at: 'site.tls.certId:',
  },
  {
    rule: 'a certificate exists',
    rpc: create,
    body: { site: { ...fine, tls: { mode: 'TLS_MODE_UPLOADED', certId: 'cert-none' } } },
    code: 'invalid_argument',
    at: 'site.tls.certId:',
  },
  {
    rule: 'a certificate covers the primary host',
    rpc: create,
    body: { site: { ...fine, tls: { mode: 'TLS_MODE_UPLOADED', certId: '$cert' } } },
    code: 'failed_precondition',
    at: 'site.tls.certId:',
    says: 'site.primaryHost',
  },
  {
    rule: 'a wildcard does not cover deeper names',
    rpc: create,
    body: {
      site: {
        ...fine,
        primaryHost: 'shop.test',
        aliases: ['a.b.shop.test'],
        tls: { mode: 'TLS_MODE_UPLOADED', certId: '$cert' },
      },
    },
    code: 'failed_precondition',
    at: 'site.tls.certId:',
    says: 'site.aliases[0]',
  },
  {
    rule: 'a challenge time is bounded',
    rpc: create,
    body: { site: { ...fine, botProtection: { challengeTtlSeconds: 29 } } },
    code: 'invalid_argument',
    at: 'site.botProtection.challengeTtlSeconds:',
  },
  {
    rule: 'a clearance time is bounded',
    rpc: create,
    body: { site: { ...fine, botProtection: { clearanceTtlSeconds: 86401 } } },
    code: 'invalid_argument',
    at: 'site.botProtection.clearanceTtlSeconds:',
  },
  {
    rule: 'a proof is bounded',
    rpc: create,
    body: { site: { ...fine, botProtection: { proofDifficulty: 25 } } },
    code: 'invalid_argument',
    at: 'site.botProtection.proofDifficulty:',
  },
  {
    rule: 'an exempt path is a path',
    rpc: create,
    body: { site: { ...fine, botProtection: { exemptPaths: ['api'] } } },
    code: 'invalid_argument',
    at: 'site.botProtection.exemptPaths[0]:',
  },
  {
    rule: 'an enum has its full name',
    rpc: create,
    body: { site: { ...fine, tls: { mode: 'NONE' } } },
    code: 'invalid_argument',
    at: 'site.tls.mode:',
  },
  {
    rule: 'a site is active, blocking, plain, with 120, 3600 and 16',
    rpc: create,
    body: {
      site: {
        name: 'shop',
        primaryHost: 'Shop.test.',
        aliases: ['*.shop.test'],
        upstreams: inline,
        botProtection: { mode: 'BOT_PROTECTION_MODE_BROWSER_CHECK' },
      },
    },
    has: {
      site: {
        primaryHost: 'shop.test',
        status: active,
        revision: '1',
        tls: none,
        waf: { enabled: true, mode: 'WAF_MODE_BLOCKING' },
        botProtection: { challengeTtlSeconds: 120, clearanceTtlSeconds: 3600, proofDifficulty: 16 },
      },
    },
    keep: [['site', 'site.id']],
  },
  {
    rule: 'a name of a site is unique',
    rpc: create,
    body: { site: { ...fine, name: 'shop' } },
    code: 'already_exists',
    at: 'site.name:',
  },
  {
    rule: 'a host belongs to one site',
    rpc: create,
    body: { site: { ...fine, primaryHost: 'SHOP.test' } },
    code: 'already_exists',
    at: 'site.primaryHost:',
  },
  {
    rule: 'an alias belongs to one site',
    rpc: create,
    body: { site: { ...fine, aliases: ['*.shop.test'] } },
    code: 'already_exists',
    at: 'site.aliases[0]:',
  },
  {
    rule: 'a wildcard leaves its own domain free',
    rpc: create,
    body: {
      site: {
        ...fine,
        name: 'api',
        primaryHost: 'api.test',
        aliases: ['www.shop.test'],
        upstreams: [{ upstreamId: '$pool' }],
      },
    },
    has: { site: { name: 'api' } },
    keep: [['second', 'site.id']],
  },
  {
    rule: 'a pool in use stays, and the site is named',
    rpc: 'UpstreamService/DeleteUpstream',
    body: { id: '$pool' },
    code: 'failed_precondition',
    at: 'id:',
    says: 'site $second',
  },
  {
    rule: 'a pool in use is not disabled',
    rpc: change,
    body: { upstream: { id: '$pool', status: 'RESOURCE_STATUS_DISABLED' }, updateMask: 'status' },
    code: 'failed_precondition',
    at: 'upstream.status:',
    says: '$second',
  },
  {
    rule: 'a list is paged',
    rpc: 'SiteService/ListSites',
    body: { page: { page: 2, pageSize: 1 } },
    has: { items: [{}], page: { page: 2, pageSize: 1 } },
  },
  {
    rule: 'a page is bounded',
    rpc: 'SiteService/ListSites',
    body: { page: { pageSize: 201 } },
    code: 'invalid_argument',
    at: 'page.pageSize:',
  },
  {
    rule: 'a status of the list is a known one',
    rpc: 'SiteService/ListSites',
    body: { status: 'asleep' },
    code: 'invalid_argument',
    at: 'status:',
  },
  {
    rule: 'a site is found by alias',
    rpc: 'SiteService/ListSites',
    body: { query: 'www.shop' },
    has: { items: [{ id: '$second' }], page: { total: '1' } },
  },
  {
    rule: 'an update needs the revision',
    rpc: update,
    body: { site: { id: '$site', name: 'x' }, updateMask: 'name' },
    code: 'invalid_argument',
    at: 'revision:',
  },
  {
    rule: 'a stale revision is aborted',
    rpc: update,
    body: { site: { id: '$site', name: 'x' }, revision: '9', updateMask: 'name' },
    code: 'aborted',
    at: 'revision:',
  },
  {
    rule: 'an update needs a mask',
    rpc: update,
    body: { site: { id: '$site' }, revision: '1' },
    code: 'invalid_argument',
    at: 'updateMask:',
  },
  {
    rule: 'a mask is one text',
    rpc: update,
    body: { site: { id: '$site' }, revision: '1', updateMask: ['name'] },
    code: 'invalid_argument',
    at: 'updateMask:',
  },
  {
    rule: 'a mask names known fields',
    rpc: update,
    body: { site: { id: '$site' }, revision: '1', updateMask: 'revision' },
    code: 'invalid_argument',
    at: 'updateMask:',
  },
  {
    rule: 'an update cannot take a name',
    rpc: update,
    body: { site: { id: '$site', name: 'api' }, revision: '1', updateMask: 'name' },
    code: 'already_exists',
    at: 'site.name:',
  },
  {
    rule: 'an update moves the revision',
    rpc: update,
    body: {
      site: {
        id: '$site',
        tls: {
          mode: 'TLS_MODE_UPLOADED',
          certId: '$cert',
          httpBehavior: 'TLS_HTTP_BEHAVIOR_REDIRECT_TO_HTTPS',
        },
      },
      revision: '1',
      updateMask: 'tls',
    },
    has: {
      site: {
        revision: '2',
        name: 'shop',
        tls: { certId: '$cert', httpBehavior: 'TLS_HTTP_BEHAVIOR_REDIRECT_TO_HTTPS' },
      },
    },
  },
  {
    rule: 'a further host needs a certificate that covers it',
    rpc: update,
    body: {
      site: { id: '$site', aliases: ['*.shop.test', 'extra.test'] },
      revision: '2',
      updateMask: 'aliases',
    },
    code: 'failed_precondition',
    at: 'site.tls.certId:',
    says: 'site.aliases[1]',
  },
  {
    rule: 'a certificate in use stays, and the site is named',
    rpc: 'CertService/DeleteCert',
    body: { id: '$cert' },
    code: 'failed_precondition',
    at: 'id:',
    says: 'site $site',
  },
  {
    rule: 'a site without a WAF stated anew is protected',
    rpc: update,
    body: { site: { id: '$site' }, revision: '2', updateMask: 'waf' },
    has: { site: { revision: '3', waf: { enabled: true, mode: 'WAF_MODE_BLOCKING' } } },
  },
  {
    rule: 'disabling needs the revision',
    rpc: 'SiteService/DisableSite',
    body: { id: '$site', revision: '1' },
    code: 'aborted',
    at: 'revision:',
  },
  {
    rule: 'a site is disabled',
    rpc: 'SiteService/DisableSite',
    body: { id: '$site', revision: '3' },
    has: { site: { status: 'RESOURCE_STATUS_DISABLED', revision: '4' } },
  },
  {
    rule: 'a site is enabled',
    rpc: 'SiteService/EnableSite',
    body: { id: '$site', revision: '4' },
    has: { site: { status: active, revision: '5' } },
  },
  {
    rule: 'a site may wait for its upstream',
    rpc: create,
    body: {
      site: { name: 'empty', primaryHost: 'empty.test', status: 'RESOURCE_STATUS_DISABLED' },
    },
    has: { site: { revision: '1' } },
    keep: [['empty', 'site.id']],
  },
  {
    rule: 'a site without upstream is not enabled',
    rpc: 'SiteService/EnableSite',
    body: { id: '$empty', revision: '1' },
    code: 'failed_precondition',
    at: 'id:',
  },
  {
    rule: 'unless forced',
    rpc: 'SiteService/EnableSite',
    body: { id: '$empty', revision: '1', force: true },
    has: { site: { status: active } },
  },
  {
    rule: 'an unknown site is not found',
    rpc: 'SiteService/GetSite',
    body: { id: 'site-none' },
    code: 'not_found',
  },
];

const routingRows: readonly RuleRow[] = [
  {
    rule: 'a new site has an empty table',
    rpc: 'SiteService/GetSiteRouting',
    body: { siteId: '$site' },
    has: { routing: { unmatchedAction: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM' }, revision: '5' },
  },
  {
    rule: 'a table is required',
    rpc: route,
    body: { siteId: '$site' },
    code: 'invalid_argument',
    at: 'routing:',
  },
  {
    rule: 'a prefix begins with a slash',
    rpc: route,
    body: { siteId: '$site', routing: { routes: [{ pathPrefix: 'api', upstreamId: '$api' }] } },
    code: 'invalid_argument',
    at: 'routing.routes[0].pathPrefix:',
  },
  {
    rule: 'a prefix has no query',
    rpc: route,
    body: { siteId: '$site', routing: { routes: [{ pathPrefix: '/a?b', upstreamId: '$api' }] } },
    code: 'invalid_argument',
    at: 'routing.routes[0].pathPrefix:',
  },
  {
    rule: 'a prefix has no dot segments',
    rpc: route,
    body: { siteId: '$site', routing: { routes: [{ pathPrefix: '/a/../b', upstreamId: '$api' }] } },
    code: 'invalid_argument',
    at: 'routing.routes[0].pathPrefix:',
  },
  {
    rule: 'a prefix has no empty segments',
    rpc: route,
    body: { siteId: '$site', routing: { routes: [{ pathPrefix: '/a//b', upstreamId: '$api' }] } },
    code: 'invalid_argument',
    at: 'routing.routes[0].pathPrefix:',
  },
  {
    rule: 'a route has a pool',
    rpc: route,
    body: { siteId: '$site', routing: { routes: [{ pathPrefix: '/api' }] } },
    code: 'invalid_argument',
    at: 'routing.routes[0].upstreamId:',
  },
  {
    rule: 'the pool of a route exists',
    rpc: route,
    body: { siteId: '$site', routing: { routes: [{ pathPrefix: '/api', upstreamId: 'none' }] } },
    code: 'invalid_argument',
    at: 'routing.routes[0].upstreamId:',
  },
  {
    rule: 'a prefix stands once, whatever its case',
    rpc: route,
    body: {
      siteId: '$site',
      routing: {
        routes: [
          { pathPrefix: '/api', upstreamId: '$api' },
          { pathPrefix: '/API/', upstreamId: '$api' },
        ],
      },
    },
    code: 'invalid_argument',
    at: 'routing.routes[1].pathPrefix:',
  },
  {
    rule: 'routes are bounded',
    rpc: route,
    body: {
      siteId: '$site',
      routing: {
        routes: Array.from({ length: 201 }, (_, at) => ({
          pathPrefix: `/p${at}`,
          upstreamId: '$api',
        })),
      },
    },
    code: 'invalid_argument',
    at: 'routing.routes:',
  },
  {
    rule: 'a stale revision is aborted',
    rpc: route,
    body: { siteId: '$site', revision: '1', routing: {} },
    code: 'aborted',
    at: 'revision:',
  },
  {
    rule: 'a default needs an upstream of the site',
    rpc: route,
    body: { siteId: '$empty', routing: { routes: [{ pathPrefix: '/api', upstreamId: '$api' }] } },
    code: 'failed_precondition',
    at: 'routing.unmatchedAction:',
  },
  {
    rule: 'a site of routes alone answers 404 elsewhere',
    rpc: route,
    body: {
      siteId: '$empty',
      routing: {
        unmatchedAction: 'UNMATCHED_PATH_ACTION_RETURN_404',
        routes: [{ pathPrefix: '/api', upstreamId: '$api' }],
      },
    },
    has: { revision: '3' },
  },
  {
    rule: 'prefixes are kept in lower case without final slash, the longest first; the site moves',
    rpc: route,
    body: {
      siteId: '$site',
      revision: '5',
      routing: {
        routes: [
          { pathPrefix: '/Api/', upstreamId: '$api' },
          {
            name: 'v2',
            pathPrefix: '/api/v2',
            upstreamId: '$pool',
            rewriteMode: 'PATH_REWRITE_MODE_STRIP_PREFIX',
          },
        ],
      },
    },
    has: {
      revision: '6',
      routing: {
        routes: [
          { pathPrefix: '/api/v2', rewriteMode: 'PATH_REWRITE_MODE_STRIP_PREFIX' },
          { pathPrefix: '/api', rewriteMode: 'PATH_REWRITE_MODE_PRESERVE' },
        ],
      },
    },
  },
  {
    rule: 'the site has the new revision',
    rpc: 'SiteService/GetSite',
    body: { id: '$site' },
    has: { site: { revision: '6' } },
  },
  {
    rule: 'the upstream that unmatched paths need stays',
    rpc: update,
    body: { site: { id: '$site' }, revision: '6', updateMask: 'upstreams' },
    code: 'failed_precondition',
    at: 'routing.unmatchedAction:',
  },
  {
    rule: 'a pool of a route stays, and the site is named',
    rpc: 'UpstreamService/DeleteUpstream',
    body: { id: '$api' },
    code: 'failed_precondition',
    at: 'id:',
    says: '$site',
  },
  {
    rule: 'nodes get the routes',
    rpc: 'SiteService/PreviewCompiledConfig',
    body: { site: { id: '$site', name: 'shop', primaryHost: 'shop.test', upstreams: inline } },
    has: {
      compiledJson: {
        site: {
          routes: [
            { pathPrefix: '/api/v2', upstreamId: '$pool', stripPrefix: true },
            { pathPrefix: '/api', upstreamId: '$api' },
          ],
        },
      },
    },
  },
  {
    rule: 'nodes get headers, probes and resilience of a pool',
    rpc: 'SiteService/PreviewCompiledConfig',
    body: { site: { name: 'new', primaryHost: 'new.test', upstreams: [{ upstreamId: '$pool' }] } },
    has: {
      compiledJson: {
        upstream: {
          endpoints: [{ host: '10.0.0.1', port: 8080, weight: 3 }, { weight: 1 }],
          healthCheck: { path: '/up', method: 'GET', expectedStatus: 204 },
          resilience: { passiveMaxFails: 2, passiveFailDurationSeconds: 30 },
          requestHeaders: [
            { name: 'Host', value: 'app.internal' },
            { name: 'X-Env', value: 'test' },
          ],
        },
      },
    },
  },
  {
    rule: 'a preview is checked',
    rpc: 'SiteService/PreviewCompiledConfig',
    body: { site: { ...fine, primaryHost: 'shop.test' } },
    code: 'already_exists',
    at: 'site.primaryHost:',
  },
  {
    rule: 'a write replaces the whole table',
    rpc: route,
    body: {
      siteId: '$empty',
      revision: '0',
      routing: { unmatchedAction: 'UNMATCHED_PATH_ACTION_RETURN_404' },
    },
    has: { routing: { unmatchedAction: 'UNMATCHED_PATH_ACTION_RETURN_404' } },
  },
];

const overrideRows: readonly RuleRow[] = [
  {
    rule: 'a site without override has none',
    rpc: 'SiteService/GetSitePolicyOverride',
    body: { siteId: '$site' },
    code: 'not_found',
  },
  {
    rule: 'a paranoia level is 1 to 4',
    rpc: 'SiteService/UpsertSitePolicyOverride',
    body: { override: { siteId: '$site', blockingParanoiaLevel: 5 } },
    code: 'invalid_argument',
    at: 'override.blockingParanoiaLevel:',
  },
  {
    rule: 'detection is not below blocking',
    rpc: 'SiteService/UpsertSitePolicyOverride',
    body: { override: { siteId: '$site', blockingParanoiaLevel: 3, detectionParanoiaLevel: 2 } },
    code: 'invalid_argument',
    at: 'override.detectionParanoiaLevel:',
  },
  {
    rule: 'sampling is a percentage',
    rpc: 'SiteService/UpsertSitePolicyOverride',
    body: { override: { siteId: '$site', samplingPercentage: 101 } },
    code: 'invalid_argument',
    at: 'override.samplingPercentage:',
  },
  {
    rule: 'an override needs its site',
    rpc: 'SiteService/UpsertSitePolicyOverride',
    body: { override: {} },
    code: 'invalid_argument',
    at: 'override.siteId:',
  },
  {
    rule: 'a sampling of 0 is a value, not absence',
    rpc: 'SiteService/UpsertSitePolicyOverride',
    body: {
      override: { siteId: '$site', samplingPercentage: 0, inboundAnomalyScoreThreshold: 10 },
    },
    has: { override: { siteId: '$site', samplingPercentage: 0, inboundAnomalyScoreThreshold: 10 } },
  },
];

const movingRows: readonly RuleRow[] = [
  {
    rule: 'an export has the site, its routes, pools, override and key',
    rpc: 'SiteService/ExportSite',
    body: { id: '$site' },
    has: {
      filename: 'shop.site.json',
      configuration: {
        apiVersion: 'waf.io/v1',
        kind: 'SiteConfiguration',
        containsSecrets: true,
        site: { name: 'shop' },
        routing: { routes: [{}, {}] },
        upstreams: [{}, {}],
        policyOverride: { samplingPercentage: 0 },
        certificate: { name: 'shop', keyPem: '$leaf.key' },
      },
    },
    keep: [['exported', 'configuration']],
  },
  {
    rule: 'an export is audited',
    rpc: 'AuditService/QueryAudit',
    body: { resourceId: '$site', action: 'export' },
    has: { items: [{ resourceType: 'site' }] },
  },
  {
    rule: 'an import cannot take hosts',
    rpc: 'SiteService/ImportSite',
    body: { configuration: '$exported' },
    code: 'already_exists',
    at: 'configuration.site.',
  },
  {
    rule: 'an import states its version',
    rpc: 'SiteService/ImportSite',
    body: { configuration: { kind: 'SiteConfiguration', site: fine } },
    code: 'invalid_argument',
    at: 'configuration.apiVersion:',
  },
  {
    rule: 'an import states its kind',
    rpc: 'SiteService/ImportSite',
    body: { configuration: { apiVersion: 'waf.io/v1', kind: 'Site', site: fine } },
    code: 'invalid_argument',
    at: 'configuration.kind:',
  },
  {
    rule: 'an import has a site',
    rpc: 'SiteService/ImportSite',
    body: { configuration: { apiVersion: 'waf.io/v1', kind: 'SiteConfiguration' } },
    code: 'invalid_argument',
    at: 'configuration.site:',
  },
  {
    rule: 'an import is checked',
    rpc: 'SiteService/ImportSite',
    body: {
      configuration: {
        apiVersion: 'waf.io/v1',
        kind: 'SiteConfiguration',
        site: { ...fine, upstreams: [{ upstreamId: 'u' }] },
        upstreams: [{ id: 'u', name: 'u', endpoints: [{ url: 'ftp://a' }] }],
      },
    },
    code: 'invalid_argument',
    at: 'configuration.upstreams[0].endpoints[0].url:',
  },
  {
    rule: 'an import knows its policy',
    rpc: 'SiteService/ImportSite',
    body: {
      configuration: {
        apiVersion: 'waf.io/v1',
        kind: 'SiteConfiguration',
        site: { ...fine, waf: { enabled: true, policyId: 'policy-elsewhere' } },
      },
    },
    code: 'invalid_argument',
    at: 'configuration.site.waf.policyId:',
  },
  {
    rule: 'a refused import leaves nothing',
    rpc: 'UpstreamService/ListUpstreams',
    body: { query: 'u' },
    has: { page: { page: 1 } },
    lacks: 'items',
  },
  {
    rule: 'the archive has every site',
    rpc: 'SiteService/ExportSites',
    body: {},
    has: {
      filename: 'sites.json',
      archive: { kind: 'SiteConfigurationArchive', containsSecrets: true },
    },
  },
  {
    rule: 'a site goes with its routes and override',
    rpc: 'SiteService/DeleteSite',
    body: { id: '$site' },
    has: { result: { id: '$site', changed: true } },
  },
  {
    rule: 'an import uses pools and certificates that are the same',
    rpc: 'SiteService/ImportSite',
    body: { configuration: '$exported' },
    has: { site: { name: 'shop', revision: '1', tls: { certId: '$cert' } } },
    keep: [['moved', 'site.id']],
  },
  {
    rule: 'an import brings the routes',
    rpc: 'SiteService/GetSiteRouting',
    body: { siteId: '$moved' },
    has: {
      routing: {
        routes: [
          { pathPrefix: '/api/v2', upstreamId: '$pool' },
          { pathPrefix: '/api', upstreamId: '$api' },
        ],
      },
    },
  },
  {
    rule: 'an import brings the override',
    rpc: 'SiteService/GetSitePolicyOverride',
    body: { siteId: '$moved' },
    has: { override: { samplingPercentage: 0 } },
  },
  {
    rule: 'a removed site is gone',
    rpc: 'SiteService/GetSiteRouting',
    body: { siteId: '$site' },
    code: 'not_found',
  },
];

const groupRows: readonly RuleRow[] = [
  { rule: 'a group is required', rpc: group, body: {}, code: 'invalid_argument', at: 'group:' },
  {
    rule: 'a group has a name',
    rpc: group,
    body: { group: { selector: { matchTags: ['eu'] } } },
    code: 'invalid_argument',
    at: 'group.name:',
  },
  {
    rule: 'a group has a selector',
    rpc: group,
    body: { group: { name: 'g' } },
    code: 'invalid_argument',
    at: 'group.selector:',
  },
  {
    rule: 'a selector selects',
    rpc: group,
    body: { group: { name: 'g', selector: {} } },
    code: 'invalid_argument',
    at: 'group.selector:',
  },
  {
    rule: 'a tag is a tag',
    rpc: group,
    body: { group: { name: 'g', selector: { matchTags: ['a b'] } } },
    code: 'invalid_argument',
    at: 'group.selector.matchTags[0]:',
  },
  {
    rule: 'a group counts its members',
    rpc: group,
    body: {
      group: {
        name: 'eu',
        selector: { matchTags: ['eu', 'edge'], matchAgentIds: ['agent-3'] },
        memberCount: 9,
      },
    },
    has: { group: { name: 'eu', memberCount: 2 } },
    keep: [['group', 'group.id']],
  },
  {
    rule: 'a name of a group is unique',
    rpc: group,
    body: { group: { name: 'eu', selector: { matchTags: ['x'] } } },
    code: 'already_exists',
    at: 'group.name:',
  },
  {
    rule: 'a group is resolved: all tags, or named',
    rpc: 'AgentGroupService/ResolveAgentGroup',
    body: { id: '$group' },
    has: { agentIds: ['agent-1', 'agent-3'], agents: [{ name: 'a' }, { name: 'c' }] },
  },
  {
    rule: 'an unsaved group is resolved',
    rpc: 'AgentGroupService/ResolveAgentGroup',
    body: { group: { selector: { matchTags: ['eu'] } } },
    has: { agentIds: ['agent-1', 'agent-2'] },
  },
  {
    rule: 'either, not both',
    rpc: 'AgentGroupService/ResolveAgentGroup',
    body: { id: '$group', group: { selector: { matchTags: ['eu'] } } },
    code: 'invalid_argument',
    at: 'id:',
  },
  {
    rule: 'neither is nothing',
    rpc: 'AgentGroupService/ResolveAgentGroup',
    body: {},
    code: 'invalid_argument',
    at: 'id:',
  },
  {
    rule: 'an update replaces the whole group',
    rpc: 'AgentGroupService/UpdateAgentGroup',
    body: { group: { id: '$group', name: 'eu', selector: { matchTags: ['eu'] } } },
    has: { group: { memberCount: 2, selector: { matchTags: ['eu'] } } },
  },
  {
    rule: 'an update needs the selector too',
    rpc: 'AgentGroupService/UpdateAgentGroup',
    body: { group: { id: '$group', name: 'eu' } },
    code: 'invalid_argument',
    at: 'group.selector:',
  },
  {
    rule: 'groups are listed',
    rpc: 'AgentGroupService/ListAgentGroups',
    body: { query: 'E' },
    has: { items: [{ id: '$group' }], page: { total: '1' } },
  },
  {
    rule: 'a group goes',
    rpc: 'AgentGroupService/DeleteAgentGroup',
    body: { id: '$group' },
    has: { result: { changed: true } },
  },
  {
    rule: 'a group that is gone is not found',
    rpc: 'AgentGroupService/GetAgentGroup',
    body: { id: '$group' },
    code: 'not_found',
  },
];

const nodeRows: readonly RuleRow[] = [
  {
    rule: 'the built-in node is always listed',
    rpc: 'AgentService/ListNodes',
    body: { localOnly: true },
    has: {
      items: [
        { id: 'local', placement: 'LOCAL', runtime: 'BUILT_IN', connectionStatus: 'OFFLINE' },
      ],
      remoteTotal: '3',
    },
  },
  {
    rule: 'enrolled nodes are nodes',
    rpc: 'AgentService/ListNodes',
    body: { query: 'agent-2' },
    has: {
      items: [
        {
          id: 'agent-2',
          placement: 'REMOTE',
          runtime: 'AGENT',
          connectionStatus: 'OFFLINE',
          remoteAgent: { tags: ['eu'] },
        },
      ],
    },
  },
  {
    rule: 'a status of nodes is a known one',
    rpc: 'AgentService/ListNodes',
    body: { status: 'asleep' },
    code: 'invalid_argument',
    at: 'status:',
  },
  {
    rule: 'agents are found by status',
    rpc: 'AgentService/ListAgents',
    body: { status: 'offline' },
    has: { page: { total: '3' } },
  },
  {
    rule: 'a status of agents is a known one',
    rpc: 'AgentService/ListAgents',
    body: { status: 'asleep' },
    code: 'invalid_argument',
    at: 'status:',
  },
  {
    rule: 'an agent is shown',
    rpc: 'AgentService/GetAgent',
    body: { id: 'agent-1' },
    has: { agent: { name: 'a', status: 'AGENT_STATUS_OFFLINE' } },
  },
  {
    rule: 'an unknown agent is not found',
    rpc: 'AgentService/GetAgent',
    body: { id: 'agent-9' },
    code: 'not_found',
  },
  {
    rule: 'unknown capabilities are not empty ones',
    rpc: 'AgentService/GetNodeCapabilities',
    body: { nodeId: 'local' },
    has: { nodeId: 'local' },
  },
  {
    rule: 'an unknown node has no capabilities',
    rpc: 'AgentService/GetNodeCapabilities',
    body: { nodeId: 'none' },
    code: 'not_found',
  },
  {
    rule: 'a node that has not confirmed is assigned, not acknowledged',
    rpc: 'AgentService/GetNodeServingState',
    body: { nodeId: 'local' },
    has: { nodeId: 'local', assigned: true },
  },
  {
    rule: 'a configuration is delivered again only to a connected node',
    rpc: 'AgentService/RetryNodeConfig',
    body: { nodeId: 'local' },
    code: 'failed_precondition',
    at: 'nodeId:',
  },
  {
    rule: 'configurations are listed',
    rpc: 'AgentService/ListConfigBundles',
    body: { nodeId: 'local', page: { pageSize: 1 } },
    has: { items: [{ agentId: 'local', applyResult: 'unknown' }] },
    keep: [['bundle', 'items.0.id']],
  },
  {
    rule: 'a configuration is shown with its signature',
    rpc: 'AgentService/GetConfigBundle',
    body: { id: '$bundle' },
    has: { bundle: { id: '$bundle', agentId: 'local' } },
  },
  {
    rule: 'an unknown configuration is not found',
    rpc: 'AgentService/GetConfigBundle',
    body: { id: 'config-0' },
    code: 'not_found',
  },
];

const systemRows: readonly RuleRow[] = [
  {
    rule: 'settings have sources',
    rpc: 'SystemService/GetSystemSettings',
    body: {},
    has: {
      settings: {
        values: { 'auth.access_token_seconds': 28800, 'auth.refresh_token_seconds': 604800 },
        sources: { 'auth.access_token_seconds': 'default' },
      },
    },
  },
  {
    rule: 'values are required',
    rpc: 'SystemService/UpdateSystemSettings',
    body: {},
    code: 'invalid_argument',
    at: 'values:',
  },
  {
    rule: 'a key is a known one',
    rpc: 'SystemService/UpdateSystemSettings',
    body: { values: { nonsense: 1 } },
    code: 'invalid_argument',
    at: 'values:',
  },
  {
    rule: 'a status of a page is 400 to 599',
    rpc: 'SystemService/UpdateSystemSettings',
    body: {
      values: {
        'security.responses.config': {
          scenarios: { waf_block: { statusCode: 200, title: 't', message: 'm' } },
        },
      },
    },
    code: 'invalid_argument',
    at: 'values.security.responses.config.scenarios.waf_block.statusCode:',
  },
  {
    rule: 'a scenario is a known one',
    rpc: 'SystemService/UpdateSystemSettings',
    body: { values: { 'security.responses.config': { scenarios: { other: {} } } } },
    code: 'invalid_argument',
    at: 'values.security.responses.config.scenarios:',
  },
  {
    rule: 'a page uses known variables',
    rpc: 'SystemService/UpdateSystemSettings',
    body: {
      values: {
        'security.responses.config': {
          templates: { html: { body: '{{client.ip}}', contentType: 'text/html' } },
        },
      },
    },
    code: 'invalid_argument',
    at: 'values.security.responses.config.templates.html.body:',
  },
  {
    rule: 'an active custom page is there',
    rpc: 'SystemService/UpdateSystemSettings',
    body: { values: { 'security.responses.config': { templates: { active: 'custom' } } } },
    code: 'invalid_argument',
    at: 'values.security.responses.config.templates.custom:',
  },
  {
    rule: 'only given keys change',
    rpc: 'SystemService/UpdateSystemSettings',
    body: { values: { 'auth.access_token_seconds': 3600 } },
    has: {
      application: 'applied',
      settings: {
        values: { 'auth.access_token_seconds': 3600, 'auth.refresh_token_seconds': 604800 },
        sources: { 'auth.access_token_seconds': 'stored' },
      },
    },
  },
  {
    rule: 'a published setting is pending until nodes have it',
    rpc: 'SystemService/UpdateSystemSettings',
    body: { values: { 'security.responses.config': { templates: { active: 'json' } } } },
    has: { application: 'pending' },
  },
  {
    rule: 'null returns to the default',
    rpc: 'SystemService/UpdateSystemSettings',
    body: { values: { 'auth.access_token_seconds': null } },
    has: {
      settings: {
        values: { 'auth.access_token_seconds': 28800 },
        sources: { 'auth.access_token_seconds': 'default' },
      },
    },
  },
  {
    rule: 'health names its parts',
    rpc: 'SystemService/Health',
    body: {},
    has: {
      status: 'unhealthy',
      checks: [
        { component: 'store', status: 'healthy' },
        { component: 'engine', status: 'unhealthy' },
        { component: 'configuration', status: 'unknown' },
      ],
    },
  },
  {
    rule: 'a version is told to any session',
    rpc: 'SystemService/Version',
    body: {},
    has: { build: {} },
  },
  {
    rule: 'the head of the overview counts',
    rpc: 'SystemService/GetDashboardStats',
    body: {},
    has: { stats: { sitesEnabled: 4, nodesTotal: 4 } },
  },
  {
    rule: 'traffic is counted exactly, by site and in all',
    rpc: 'SystemService/GetTrafficTimeseries',
    body: { bucketSize: '1d', siteId: '$second' },
    has: { points: [{ intervalSeconds: '86400' }, {}] },
  },
  {
    rule: 'a step is a number with a unit',
    rpc: 'SystemService/GetTrafficTimeseries',
    body: { bucketSize: 'often' },
    code: 'invalid_argument',
    at: 'bucketSize:',
  },
  {
    rule: 'points are bounded',
    rpc: 'SystemService/GetTrafficTimeseries',
    body: {
      bucketSize: '1h',
      timeRange: { start: '2020-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' },
    },
    code: 'invalid_argument',
    at: 'bucketSize:',
  },
  {
    rule: 'the overview adds up what nodes counted',
    rpc: 'SystemService/GetDashboardOverview',
    body: { bucketSize: '1h' },
    has: {
      trafficBucketSeconds: '3600',
      stats: { sitesEnabled: 4 },
      trafficQuality: {
        total: '10',
        status2xx: '6',
        status4xx: '3',
        status5xx: '1',
        gatewayErrors: '1',
        businessRequests: '7',
        slowRequests: '2',
      },
      topStatuses: {
        items: [
          { key: '200', total: '6' },
          { key: '403', total: '3' },
          { key: '502', total: '1' },
        ],
      },
      topSites: [{ siteId: 'site-demo', total: '10', blocked: '3' }],
      freshness: { source: 'node_counters', stale: true },
      securityTopCountries: {},
    },
  },
  {
    rule: 'an overview of one site ranks no sites',
    rpc: 'SystemService/GetDashboardOverview',
    body: { siteId: '$second' },
    has: { trafficQuality: {} },
    lacks: 'topSites',
  },
  {
    rule: 'a ranking of the overview is bounded',
    rpc: 'SystemService/GetDashboardOverview',
    body: { topKLimit: 101 },
    code: 'invalid_argument',
    at: 'topKLimit:',
  },
  {
    rule: 'a ranking is bounded',
    rpc: 'SystemService/GetTopAttackers',
    body: { limit: 101 },
    code: 'invalid_argument',
    at: 'limit:',
  },
  {
    rule: 'a span of time has an order',
    rpc: 'SystemService/GetAttackDistribution',
    body: { timeRange: { start: '2026-01-02T00:00:00Z', end: '2026-01-01T00:00:00Z' } },
    code: 'invalid_argument',
    at: 'timeRange:',
  },
];

/** Every rule, in order. */
export const ruleRows: readonly RuleRow[] = [
  ...upstreamRows,
  ...certificateRows,
  ...siteRows,
  ...routingRows,
  ...overrideRows,
  ...movingRows,
  ...groupRows,
  ...nodeRows,
  ...systemRows,
];
