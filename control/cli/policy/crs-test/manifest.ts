/**
 * The documents that a regression run is made under: one site for every host and the policy that
 * CRS's own tests assume (detection only, paranoia 4, responses read, low argument limits).
 */

/** What differs between runs. */
export interface TestManifestOptions {
  /** Folder with the rule set, or null for the built-in one. */
  readonly rulesetFolder: string | null;
  readonly originUrl: string;
  readonly paranoia: number;
  readonly blocking: boolean;
}

/** As crs-setup.conf sets them: a policy has rules of its own for files, and leaves these unset. */
const fileLimits =
  'SecAction "id:900340,phase:1,pass,nolog,' +
  'setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535"';

/** JSON documents, one an entry, as `waf bundle build` reads them. */
export function testManifest(options: TestManifestOptions): string {
  const site = {
    apiVersion: 'waf.io/v1',
    kind: 'Site',
    metadata: { name: 'crs-test' },
    spec: {
      primaryHost: 'crs-test.invalid',
      upstreams: [{ url: options.originUrl, weight: 1 }],
      policyRef: 'crs-test',
    },
  };
  const policy = {
    apiVersion: 'waf.io/v1',
    kind: 'Policy',
    metadata: { name: 'crs-test' },
    spec: {
      ...(options.rulesetFolder === null
        ? { crsRulesetRef: 'crs-3.3.4' }
        : { ruleset: { path: options.rulesetFolder } }),
      engineState: options.blocking ? 'on' : 'detection-only',
      crsCore: {
        blockingParanoiaLevel: options.paranoia,
        detectionParanoiaLevel: options.paranoia,
        crsValidateUtf8Encoding: true,
        requestBodyLimit: '131072',
        responseBodyAccess: true,
        responseBodyMimeTypes: ['text/plain', 'text/html', 'text/xml', 'application/json'],
      },
      argLimits: {
        maxNumArgs: 255,
        argNameLength: 100,
        argLength: 400,
        totalArgLength: 64_000,
      },
      seclangBefore: fileLimits,
    },
  };
  return [site, policy].map((one) => JSON.stringify(one)).join('\n---\n');
}
