/** The rows of commands that change a resource: what each flag names; what is no change. */

/** A command that changes a resource. */
export interface SetRow {
  /** Lines that make the resource. */
  readonly make: readonly string[];
  /** The words that say which resource is meant. */
  readonly which: string;
  /** Flags of one call each, and the values that they name; a flag of two words needs no step. */
  readonly steps: readonly (readonly [flags: string, named: RegExp])[];
  readonly show: string;
  /** Flags without a step, and why. */
  readonly without?: Readonly<Record<string, string>>;
}

/** Flags that change no value of a resource. */
export const spokenOf: Readonly<Record<string, string>> = {
  '--revision': 'which revision is meant',
  '--replace': 'how lists change',
  '--remove': 'how lists change',
  '--mask': 'which fields of a file count',
  '--id': 'which resource is meant',
};

const origin = 'http://127.0.0.1:1';
const site = (name: string): string =>
  `site create --name ${name} --host ${name}.test --upstream ${origin}`;
const tlsOfOrigin = 'list-change.test.ts and dead-origin.test.ts; they need an https origin';

/** Rows by command. */
export const setRows: Readonly<Record<string, SetRow>> = {
  'site update': {
    make: [
      site('shop'),
      'policy create --name of-shop',
      `upstream create --name of-shop --endpoint ${origin}`,
    ],
    which: 'shop',
    steps: [
      ['--alias www-shop.test', /aliases/],
      ['--host shop2.test', /primaryHost/],
      ['--policy of-shop', /waf\.policyId/],
      ['--mode detection', /waf\.(?:mode|enabled)/],
      ['--pool of-shop', /upstreams|poolId|upstreamId/],
      ['--tls uploaded --cert shop', /\.tls\./],
      ['--http redirect', /\.tls\.httpBehavior/],
      ['--no-aliases', /aliases/],
      ['--name shop --host shop3.test', /primaryHost/],
    ],
    show: 'site get shop',
    without: {
      '--origin-ca': tlsOfOrigin,
      '--server-name': tlsOfOrigin,
      '--skip-verify': tlsOfOrigin,
      '--leave-exclusions': 'cli/left-behind.test.ts',
    },
  },
  'site override': {
    make: [site('levels'), 'site override levels --paranoia 1'],
    which: 'levels',
    steps: [
      ['--paranoia 2', /blockingParanoiaLevel/],
      ['--detection-paranoia 3', /detectionParanoiaLevel/],
      ['--threshold 9', /inboundAnomalyScoreThreshold/],
      ['--outbound-threshold 8', /outboundAnomalyScoreThreshold/],
      ['--sampling 50', /samplingPercentage/],
      ['--rationale why', /rationale/],
    ],
    show: 'site override levels',
  },
  'site routing-set': {
    make: [site('routes'), `upstream create --name to --endpoint ${origin}`],
    which: 'routes',
    steps: [
      ['--route /a=to', /routes?\./],
      ['--unmatched 404', /unmatched|default/i],
      ['--strip /b=to', /routes?\./],
    ],
    show: 'site routing routes',
    without: { '--file': 'the whole routing' },
  },
  'site tls': {
    make: [site('secured')],
    which: 'secured',
    steps: [
      ['--cert shop', /\.tls\./],
      ['--min-version 1.3', /minVersion/],
      ['--http redirect', /httpBehavior/],
      ['--hsts 60', /hstsMaxAgeSeconds/],
    ],
    show: 'site get secured',
    without: { '--acme': 'another certificate', '--off': 'no certificate' },
  },
  'upstream update': {
    make: [`upstream create --name pool --endpoint ${origin},3 --header x-a=1`],
    which: 'pool',
    steps: [
      ['--description why', /description/],
      ['--health-path /up', /healthCheck/],
      ['--health-status 204', /healthCheck\.expected/],
      ['--health-interval 7', /healthCheck\.interval/],
      ['--status disabled', /status/],
      ['--name pool --description other', /description/],
    ],
    show: 'upstream get pool',
    without: {
      '--origin-ca': tlsOfOrigin,
      '--server-name': tlsOfOrigin,
      '--skip-verify': tlsOfOrigin,
    },
  },
  'cert dns-update': {
    make: ['cert dns-create --name cf --provider cloudflare --zone a.test --credentials TOKEN'],
    which: 'cf',
    steps: [
      ['--propagation 30', /propagation/i],
      ['--status disabled', /status/],
      ['--credentials TOKEN --propagation 31', /propagation|credential/i],
      ['--name cf --propagation 32', /propagation/i],
    ],
    show: 'cert dns-list',
  },
  'agent-group update': {
    make: ['agent-group create --name edge --tag t1'],
    which: 'edge',
    steps: [
      ['--tag t2', /Tags/],
      ['--name edge --tag t3', /Tags/],
    ],
    show: 'agent-group get edge',
  },
  'policy update': {
    make: ['policy create --name tuned --description first'],
    which: 'tuned',
    steps: [
      ['--description why', /description/],
      ['--decision both', /crsCore\.decision/],
      ['--watch-score 20', /watchScore/],
      ['--challenge-score 50', /challengeScore/],
      ['--block-score 70', /blockScore/],
      ['--blocking self-contained', /blockingMode/],
      ['--status archived', /status/],
      ['--name tuned --description other', /description/],
    ],
    show: 'policy get tuned',
    without: { '--file': 'policy-update.test.ts' },
  },
  'policy engine': {
    make: ['policy create --name switched --description first'],
    which: 'switched',
    steps: [['detection-only', /engineState/]],
    show: 'policy get switched',
  },
  'rule update': {
    make: ['policy create --name ruled', 'rule create ruled --name own --seclang RULE'],
    which: 'own',
    steps: [
      ['--description why', /description/],
      ['--placement after_crs', /placement/],
      ['--order 7', /sortOrder/],
      ['--seclang NEXT', /seclang/i],
      ['--name own --description other', /description/],
    ],
    show: 'rule list ruled',
    without: {
      '--visual': 'takes the place of SecLang',
      '--phase': 'of a visual rule',
      '--number': 'stands in SecLang',
    },
  },
  'rule override': {
    make: ['policy create --name excluded', 'rule override excluded 942999 score --score 3'],
    which: 'excluded 942999',
    steps: [
      ['exclude --without ARGS:q', /excluded?Targets|targets/i],
      ['exclude --without ARGS:r --rationale why', /targets|rationale/i],
      ['score --score 4', /score/i],
    ],
    show: 'rule overrides excluded',
    without: { '--site': 'which override is meant', '--scope': 'which override is meant' },
  },
  'ip-list bind': {
    make: ['policy create --name bound'],
    which: 'office --policy bound --kind allow',
    steps: [
      ['--not-in', /^/],
      ['--bypass all_waf', /bypassMode/],
      ['--in', /matchMode/],
    ],
    show: 'ip-list bindings --policy bound',
    without: {
      '--site': 'which binding is meant',
      '--path': 'which binding is meant',
      '--peer': 'which binding is meant',
    },
  },
  'site maintenance': {
    make: [site('closing')],
    which: 'closing',
    steps: [
      ['--retry-after 60', /retryAfter/],
      ['--title Closed', /title/],
      ['--message Soon', /message/],
      ['--allow-network 192.0.2.0/24', /allowedNetworks/],
      ['--allow-path /up', /allowedPaths/],
      ['--state on', /enabled/],
    ],
    show: 'site get closing',
  },
  'bot set': {
    make: [site('asked'), 'bot set asked --mode browser'],
    which: 'asked',
    steps: [
      ['--mode human', /mode/i],
      ['--challenge-ttl 90', /challengeTtl/],
      ['--clearance-ttl 900', /clearanceTtl/],
      ['--difficulty 14', /difficulty/i],
      ['--exempt-path /up', /exemptPaths?/i],
      ['--challenge-path /up', /challengePaths?/i],
      ['--trust office', /trusted/i],
      ['--under-attack 2h', /underAttack/],
    ],
    show: 'bot show asked',
  },
  'country set': {
    make: ['country set --name abroad --kind deny --country DE'],
    which: '--id abroad',
    steps: [
      ['--kind monitor', /kind/],
      ['--not-in', /matchMode/],
      ['--off', /enabled/],
      ['--country FR', /countryCodes/],
      ['--in', /matchMode/],
      ['--on', /enabled/],
      ['--name abroad --kind deny', /kind/],
    ],
    show: 'country list',
  },
  'rate-limit set': {
    make: [
      'policy create --name limited',
      'rate-limit set --policy limited --path /login --requests 5 --window 60',
    ],
    which: '--policy limited --path /login',
    steps: [
      ['--requests 9', /requestCount/],
      ['--window 90', /windowSeconds/],
      ['--action ban --for 900', /action|mitigation|ban/i],
      ['--ban-scope global', /banScope/],
      ['--key session', /countingKey/],
      ['--observe', /enforcementMode/],
      ['--enforce', /enforcementMode/],
    ],
    show: 'rate-limit list --policy limited',
    without: { '--site': 'which limit is meant' },
  },
  'log policy-set': {
    make: [],
    which: '',
    steps: [
      ['--access-days 3', /accessFullRetentionDays/],
      ['--security-days 31', /securityFullRetentionDays/],
      ['--exemplar-days 33', /exemplarRetentionDays/],
      ['--fact-days 41', /securityFactRetentionDays/],
      ['--evidence-days 4', /requestEvidenceRetentionDays/],
      ['--window 121', /sampleWindowSeconds/],
      ['--status-exemplars 7', /statusExemplarK/],
      ['--api-exemplars 9', /apiExemplarK/],
      ['--rule-exemplars 11', /securityExemplarK/],
      ['--under-pressure report_only', /pressurePolicy/],
      ['--evidence-header-bytes 9001', /requestEvidenceHeaderMaxBytes/],
      ['--evidence-body-bytes 9001', /requestEvidenceBodyMaxBytes/],
      ['--evidence off', /requestEvidenceMode/],
      ['--evidence-body prefix', /requestEvidenceBodyMode/],
      ['--security exemplars', /securityMode/],
      ['--access none', /accessMode/],
      ['--pairing off', /evidencePairing/],
      ['--pairing on', /evidencePairing/],
    ],
    show: 'log policy',
    without: {
      '--site': 'the policy of a site; log-policies.test.ts',
      '--acknowledge-storage-risk': 'accepts a risk and changes nothing',
    },
  },
  'alert channel-set': {
    make: ['alert channel-set --name hook --kind webhook --file HOOK'],
    which: '--id hook',
    steps: [
      ['--off', /enabled/],
      ['--file OTHER', /config/],
      ['--on', /enabled/],
      ['--name hook --off', /enabled/],
    ],
    show: 'alert channels',
    without: { '--kind': 'a channel of another kind needs another configuration' },
  },
  'user update': {
    make: ['user create lena --no-password --provider radius'],
    which: 'lena',
    steps: [
      ['--email lena@shop.test', /email/],
      ['--display-name Lena', /displayName/],
      ['--provider oidc:a', /externalProviders/],
      ['--username lena --email l@shop.test', /email/],
      ['--no-providers', /externalProviders/],
    ],
    show: 'user get lena',
  },
  'role update': {
    make: ['role create reader --permission site:read'],
    which: 'reader',
    steps: [
      ['--description why', /description/],
      ['--permission log:read', /permissions/],
      ['--name reader --description other', /description/],
    ],
    show: 'role get reader',
  },
};

/** Commands that change a resource, and the test that holds what they keep. */
export const heldElsewhere: Readonly<Record<string, string>> = {
  'system settings-set': 'set-commands.test.ts',
  'site client-crl': 'replaces all lists, as its help says: site-delivery.test.ts',
  'trust set': 'replaces the whole profile, with a note: set-commands.test.ts',
  'policy set-layer': 'replaces the whole layer, with a note: set-commands.test.ts',
  'policy ruleset': 'one value: names.test.ts',
  'alert rule-set': 'alert-commands.test.ts',
  'alert channel-rules': 'sets exactly what is named, as its help says',
  'agent update': 'agent-update.test.ts',
  'agent release-keys': 'sets exactly what is named, as its help says',
  'bot verifier-set': 'bot-verifier-commands.test.ts',
  'crs shadow-start': 'starts a run: test/e2e/crs-update.test.ts',
  'crs shadow-stop': 'ends a run: test/e2e/crs-update.test.ts',
  'crs update': 'moves policies: test/e2e/crs-update.test.ts',
  'crs exclusion-use': 'list-change.test.ts',
  'user roles': 'list-change.test.ts',
  'user password': 'one value',
  'site canary': 'one route of one site: control/cli/site/site-canary.test.ts',
  'site websocket': 'one value of one site: site-options.test.ts',
  'site grpc': 'one value of one site: site-options.test.ts',
  'site array-names': 'one value of one site: site-options.test.ts',
  'site applications': 'one value of one site: site-options.test.ts',
  'learning accept': 'learning-service/learning.test.ts',
  'learning dismiss': 'learning-service/learning.test.ts',
  'learning mode': 'one value of one site: site-options.test.ts',
  'site delivery': 'site/site-delivery.test.ts',
  'rate-limit fields': 'one value of one site: site-options.test.ts',
  'ip-list add': 'set-commands.test.ts',
  'ip-list import': 'set-commands.test.ts',
  'rule override-import': 'adds as rule override does: policy.test.ts',
  'rule reorder': 'names every rule of the policy',
  'patch apply': 'replaces patches of the same id: known-faults.test.ts',
  'crs exclusion-import': 'replaces the plugin, as its help says',
  apply: 'apply-manifest.test.ts',
  'api import': 'api-commands.test.ts',
  'api observe': 'api-plan.test.ts',
  'api enforce': 'api-plan.test.ts',
};

/** Commands that change nothing there is: they ask, make, remove, switch or work on files. */
export const noChanges: readonly RegExp[] = [
  /^(?:run|engine|doctor|dashboard|completion|version|mcp|debug|diff|export|get|explain|agents)$/,
  /^(?:install|uninstall|update|bundle build)$/,
  / (?:list|get|show|entries|lookup|bindings|runs|held|routing|preview)$/,
  / (?:test|replay|diff|versions?)$/,
  / (?:create|delete|remove|unbind|upload|download|issue|renew|import|export|subscribe|restore)$/,
  / (?:enable|disable|lock|unlock|pause|resume|sync|reset|rollback|retry|policy-reset|reset-mfa)$/,
  /^(?:agent|ai|alert|api-document|auth|audit|release|log|admin|seclang|system|crs|cert) /,
  /^token (?:rotate|revoke)$|^session end$|^passkey rename$/,
  / (?:templates?|search|exclude|from-template|impact|health|catalog|status|analyze|resolve)$/,
  /^rule (?:overrides|override-get|override-delete)$|^role permissions$|^policy import$/,
  /^bot verifier-(?:list|delete)$|^site hash-password$/,
];
