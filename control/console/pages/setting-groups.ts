/** The settings that have forms: which fields they are made of, and what those are called. */

import type { JsonValue } from '@bufbuild/protobuf';
import type { Pair, SettingField } from './setting-values.ts';

/** The tab of the page of settings that a form is on. */
export type SettingTab = 'settings' | 'sign-in' | 'services';

/** Fields that are saved together. */
export interface SettingGroup {
  readonly tab: SettingTab;
  readonly title: Pair;
  readonly note?: Pair;
  readonly fields: readonly SettingField[];
}

/** A setting that is a list of entries with ids. */
export interface SettingList {
  readonly tab: SettingTab;
  readonly key: string;
  readonly title: Pair;
  readonly note?: Pair;
  readonly add: Pair;
  readonly empty: Pair;
  /** Names of the fields that the table shows. */
  readonly columns: readonly string[];
  /** Of one entry; their paths begin in it. */
  readonly fields: readonly SettingField[];
}

type Kind = SettingField['kind'];

/** A row of the table: path, kind, standard, label, and what few fields have. */
function row(
  path: string | readonly string[],
  kind: Kind,
  standard: JsonValue,
  label: Pair,
  more: Pick<SettingField, 'choices' | 'hint'> = {},
): SettingField {
  return { path: typeof path === 'string' ? [path] : path, kind, standard, label, ...more };
}

/** Rows of a setting that is an object. */
function within(key: string, rows: readonly SettingField[]): readonly SettingField[] {
  return rows.map((one) => ({ ...one, path: [key, ...one.path] }));
}

const oneEachLine: Pair = ['One per line', '每行一个'];
const keepsSecret: Pair = [
  '“configured” stands for the secret that is stored',
  '“configured” 代表已存储的密钥',
];
const on: Pair = ['In use', '启用'];
const id: Pair = ['Id, in lower-case letters', '标识（小写字母）'];
const roleIds: Pair = ['Ids of roles that new users get', '新用户获得的角色标识'];

/** How people of a provider become users. */
const accounts: readonly SettingField[] = [
  row('autoCreate', 'check', false, ['Create users at their first sign-in', '首次登录时创建用户']),
  row('defaultRoleIds', 'lines', [], roleIds, { hint: oneEachLine }),
  row('roleMappings', 'pairs', {}, ['Roles by group', '按组分配角色'], {
    hint: ['One per line: group = id of the role', '每行一个：组 = 角色标识'],
  }),
];

/** Choices that a site may make for itself, for the sites that do not. */
const siteOptions: readonly SettingField[] = [
  row(['websocket.messages', '*'], 'text', 'off', ['Messages of WebSockets', 'WebSocket 消息'], {
    choices: [
      ['off', ['Not inspected', '不检测']],
      ['observe', ['Inspected, never blocked', '检测但不拦截']],
      ['block', ['Inspected, attacks are blocked', '检测并拦截攻击']],
    ],
  }),
  row(['grpc.fields', '*'], 'text', 'off', ['Text fields of gRPC', 'gRPC 文本字段'], {
    choices: [
      ['off', ['Inspected as one body', '作为整个正文检测']],
      ['on', ['Inspected as arguments', '作为参数检测']],
    ],
  }),
  row(
    ['rate_limit.fields', '*'],
    'text',
    'off',
    ['RateLimit response fields', 'RateLimit 响应字段'],
    {
      choices: [
        ['off', ['Not sent', '不发送']],
        ['on', ['Sent', '发送']],
      ],
    },
  ),
  row(['api.array_names', '*'], 'text', 'none', ['Names of arrays in forms', '表单中的数组名称'], {
    choices: [
      ['none', ['As they are sent', '按原样']],
      ['php', ['As PHP reads them: n[]', '按 PHP 方式：n[]']],
      ['qs', ['As qs reads them: n[0]', '按 qs 方式：n[0]']],
    ],
  }),
  row(['detection.learning', '*'], 'text', 'suggest', ['Learning from traffic', '从流量学习'], {
    choices: [
      ['suggest', ['Proposes what to let through', '提出放行建议']],
      ['off', ['Does not learn', '不学习']],
      ['auto', ['Lets it through by itself', '自动放行']],
    ],
  }),
  row(['detection.applications', '*'], 'text', '', ['Known applications', '已知应用'], {
    hint: ['For example wordpress@/blog,dokuwiki', '例如 wordpress@/blog,dokuwiki'],
  }),
];

/** All groups, in the order of the page. */
export const settingGroups: readonly SettingGroup[] = [
  {
    tab: 'settings',
    title: ['What holds for all sites', '适用于所有站点'],
    note: ['What a site chooses for itself counts before it.', '站点自身的选择优先。'],
    fields: siteOptions,
  },
  {
    tab: 'sign-in',
    title: ['Sign-in and sessions', '登录与会话'],
    fields: [
      row('auth.access_token_seconds', 'number', 28_800, [
        'An access token ends after (seconds)',
        '访问令牌有效期（秒）',
      ]),
      row('auth.refresh_token_seconds', 'number', 604_800, [
        'A session ends without use after (seconds)',
        '会话闲置失效时间（秒）',
      ]),
      row('auth.public_url', 'text', '', ['Address of this console', '此控制台的地址'], {
        hint: [
          'Identity providers send browsers back to it, for example https://waf.example.com',
          '身份提供方将浏览器重定向回该地址，例如 https://waf.example.com',
        ],
      }),
      row('auth.password_enabled', 'check', true, [
        'Accept passwords over the network',
        '允许通过网络使用密码登录',
      ]),
    ],
  },
  {
    tab: 'sign-in',
    title: ['RADIUS', 'RADIUS'],
    note: [
      'A server that checks passwords or codes of a second factor.',
      '用于校验密码或第二因素代码的服务器。',
    ],
    fields: within('auth.radius.config', [
      row('enabled', 'check', false, on),
      row('use', 'text', 'password', ['Checks', '校验内容'], {
        choices: [
          ['password', ['Passwords', '密码']],
          ['second_factor', ['The second factor', '第二因素']],
        ],
      }),
      row('servers', 'servers', [], ['Servers', '服务器'], {
        hint: ['One per line: host:port', '每行一个：主机:端口'],
      }),
      row('secret', 'secret', '', ['Shared secret', '共享密钥'], { hint: keepsSecret }),
      row('timeoutMs', 'number', 3000, ['Wait for an answer (ms)', '等待应答（毫秒）']),
      row('attempts', 'number', 2, ['Attempts per server', '每台服务器的尝试次数']),
      row('nasIdentifier', 'text', 'waf', ['NAS identifier', 'NAS 标识']),
      row('prompt', 'text', 'Enter the code of your token', ['Prompt', '提示语']),
      ...accounts,
    ]),
  },
  {
    tab: 'settings',
    title: ['Block page', '拦截页面'],
    note: [
      'What a refused client gets. In a page, {{ request.id }} stands for the id of the request.',
      '被拒绝的客户端收到的内容。页面中 {{ request.id }} 代表请求编号。',
    ],
    fields: within('security.responses.config', [
      row(['templates', 'active'], 'text', 'auto', ['Form', '形式'], {
        choices: [
          ['auto', ['As the client accepts', '按客户端接受的类型']],
          ['html', ['HTML', 'HTML']],
          ['json', ['JSON', 'JSON']],
          ['plain', ['Plain text', '纯文本']],
          ['custom', ['The page below', '下面的页面']],
        ],
      }),
      row(['templates', 'custom', 'contentType'], 'text', '', ['Media type', '媒体类型'], {
        hint: ['For example text/html', '例如 text/html'],
      }),
      row(['templates', 'custom', 'body'], 'area', '', ['Page', '页面']),
    ]),
  },
  {
    tab: 'settings',
    title: ['Managed certificates', '托管证书'],
    note: [
      'The authority that certificates are ordered from, unless an order names another.',
      '签发证书的机构；订单另行指定时除外。',
    ],
    fields: within('acme.config', [
      row('email', 'text', '', ['Contact address', '联系邮箱']),
      row('directoryUrl', 'text', '', ['Address of its ACME directory', 'ACME 目录地址'], {
        hint: ['Empty for Let’s Encrypt', '留空表示 Let’s Encrypt'],
      }),
      row('profile', 'text', '', ['Certificate profile', '证书配置']),
      row('eabKeyId', 'text', '', ['Id of the account key', '账户密钥标识']),
      row('eabHmacKey', 'secret', '', ['Account key', '账户密钥'], { hint: keepsSecret }),
      row('caPem', 'area', '', ['Authorities of its server (PEM)', '其服务器的根证书（PEM）']),
    ]),
  },
  {
    tab: 'services',
    title: ['Language model', '语言模型'],
    note: [
      'Explains events when somebody asks. Off: nothing leaves this machine.',
      '按需解释事件。关闭时任何数据都不会离开本机。',
    ],
    fields: within('ai.config', [
      row('enabled', 'check', false, on),
      row('provider', 'text', 'openai_compatible', ['Interface', '接口'], {
        choices: [
          ['openai_compatible', ['OpenAI-compatible', 'OpenAI 兼容']],
          ['azure_openai', ['Azure OpenAI', 'Azure OpenAI']],
        ],
      }),
      row('endpoint', 'text', '', ['Base address', '基础地址'], {
        hint: ['For example https://models.example/v1', '例如 https://models.example/v1'],
      }),
      row('model', 'text', '', ['Model', '模型']),
      row('apiVersion', 'text', '2024-10-21', ['API version, of Azure', 'API 版本（Azure）']),
      row('timeoutSeconds', 'number', 60, ['Wait for an answer (seconds)', '等待应答（秒）']),
      row('answerTokensMax', 'number', 1024, ['Tokens per answer, at most', '每次应答最多令牌数']),
      row('callsPerHour', 'number', 60, ['Calls per hour, at most', '每小时最多调用次数']),
      row('tokensPerDay', 'number', 200_000, ['Tokens per day, at most', '每天最多令牌数']),
    ]),
  },
  {
    tab: 'services',
    title: ['What is fetched from outside', '从外部获取'],
    fields: [
      row('outgoing.allowed_networks', 'lines', [], ['Private networks', '私有网络'], {
        hint: [
          'One per line. Lists, documents and hooks may be at these addresses, too',
          '每行一个。列表、文档和回调也可位于这些地址',
        ],
      }),
      row('crs.release_source', 'text', 'https://api.github.com', [
        'Releases of the Core Rule Set',
        'CRS 规则集版本来源',
      ]),
      row('crs.mirror', 'text', '', ['Mirror of these releases', '这些版本的镜像'], {
        hint: ['Empty: none', '留空表示无'],
      }),
      row(
        'crs.signing_keys',
        'lines',
        ['36006F0E0BA167832158821138EEACA1AB8A6E72'],
        ['Fingerprints of keys that sign them', '签署这些版本的密钥指纹'],
      ),
      row(
        'geo.download_url',
        'text',
        'https://download.db-ip.com/free/dbip-{kind}-lite-{month}.mmdb.gz',
        ['Geo databases', '地理数据库'],
      ),
      row('geo.digest_url', 'text', '', ['Their SHA-256 digests', '其 SHA-256 摘要']),
      row('release.index_url', 'text', '', ['List of releases of the program', '程序版本列表'], {
        hint: ['Empty: nobody is asked', '留空则不查询'],
      }),
      row('release.index_ca_pem', 'area', '', [
        'Authorities of that server (PEM)',
        '该服务器的根证书（PEM）',
      ]),
      row('release.trusted_keys', 'lines', [], ['Keys that sign releases', '签署版本的公钥'], {
        hint: oneEachLine,
      }),
    ],
  },
];

const provider: readonly SettingField[] = [
  row('id', 'text', '', id),
  row('label', 'text', '', ['Text of its button', '按钮文字']),
  row('enabled', 'check', true, on),
];

/** All lists, in the order of the page. */
export const settingLists: readonly SettingList[] = [
  {
    key: 'auth.oidc.providers',
    tab: 'sign-in',
    title: ['OpenID providers', 'OpenID 提供方'],
    add: ['Add an OpenID provider', '添加 OpenID 提供方'],
    empty: ['No OpenID provider.', '没有 OpenID 提供方。'],
    columns: ['id', 'label', 'issuer', 'enabled'],
    fields: [
      ...provider,
      row('issuer', 'text', '', ['Issuer', '签发者']),
      row('clientId', 'text', '', ['Client id', '客户端标识']),
      row('clientSecret', 'secret', '', ['Client secret', '客户端密钥'], { hint: keepsSecret }),
      row('scopes', 'lines', ['openid', 'profile', 'email'], ['Scopes', '范围'], {
        hint: oneEachLine,
      }),
      row('usernameClaim', 'text', 'preferred_username', ['Claim with the name', '用户名声明']),
      row('groupsClaim', 'text', 'groups', ['Claim with the groups', '组声明']),
      ...accounts,
    ],
  },
  {
    key: 'auth.saml.providers',
    tab: 'sign-in',
    title: ['SAML providers', 'SAML 提供方'],
    add: ['Add a SAML provider', '添加 SAML 提供方'],
    empty: ['No SAML provider.', '没有 SAML 提供方。'],
    columns: ['id', 'label', 'idpIssuer', 'enabled'],
    fields: [
      ...provider,
      row('idpIssuer', 'text', '', ['Entity id of the provider', '提供方实体标识']),
      row('entryPoint', 'text', '', ['Sign-in address', '登录地址']),
      row('certificates', 'certificates', [], ['Its certificates (PEM)', '其证书（PEM）']),
      row('entityId', 'text', '', ['Our entity id', '本方实体标识'], {
        hint: ['Empty: the address of our metadata', '留空则为元数据地址'],
      }),
      row('usernameAttribute', 'text', '', ['Attribute with the name', '用户名属性'], {
        hint: ['Empty: the NameID', '留空则用 NameID'],
      }),
      row('emailAttribute', 'text', 'email', ['Attribute with the mail address', '邮箱属性']),
      row('groupsAttribute', 'text', 'groups', ['Attribute with the groups', '组属性']),
      row('clockSkewSeconds', 'number', 60, [
        'Clocks may differ by (seconds)',
        '允许时钟偏差（秒）',
      ]),
      ...accounts,
    ],
  },
  {
    key: 'siem.targets',
    tab: 'services',
    title: ['SIEM targets', 'SIEM 目标'],
    note: ['Where events are sent by syslog.', '通过 syslog 发送事件的目标。'],
    add: ['Add a SIEM target', '添加 SIEM 目标'],
    empty: ['No SIEM target.', '没有 SIEM 目标。'],
    columns: ['id', 'host', 'port', 'transport', 'format', 'enabled'],
    fields: [
      row('id', 'text', '', id),
      row('enabled', 'check', true, on),
      row('transport', 'text', '', ['Transport', '传输'], {
        choices: [
          ['tls', ['TLS', 'TLS']],
          ['tcp', ['TCP', 'TCP']],
          ['udp', ['UDP', 'UDP']],
        ],
      }),
      row('host', 'text', '', ['Host', '主机']),
      row('port', 'number', 0, ['Port', '端口']),
      row('format', 'text', '', ['Form', '格式'], {
        choices: [
          ['ecs', ['Elastic Common Schema', 'Elastic Common Schema']],
          ['ocsf', ['Open Cybersecurity Schema Framework', 'Open Cybersecurity Schema Framework']],
          ['audit', ['Audit log of ModSecurity', 'ModSecurity 审计日志']],
          ['access', ['Access log', '访问日志']],
        ],
      }),
      row('events', 'lines', [], ['Events', '事件'], {
        hint: [
          'One per line: security, access, error. Empty: what the form is for',
          '每行一个：security、access、error。留空则按格式',
        ],
      }),
      row('evidence', 'check', false, ['With headers and bodies', '包含标头和正文']),
      row('framing', 'text', 'octet_counting', ['End of a message', '消息结束方式'], {
        choices: [
          ['octet_counting', ['Its length stands before it', '前置长度']],
          ['newline', ['A line break', '换行']],
        ],
      }),
      row('facility', 'number', 16, ['Syslog facility, 0 to 23', 'Syslog 设施（0 至 23）']),
      row('queueBytes', 'number', 8_388_608, ['Queue (bytes)', '队列（字节）']),
      row('serverName', 'text', '', ['Name in its certificate', '证书中的名称']),
      row('caPem', 'area', '', ['Authorities of its certificate (PEM)', '其根证书（PEM）']),
      row('clientCertPem', 'area', '', ['Client certificate (PEM)', '客户端证书（PEM）']),
      row('clientKeyPem', 'area', '', ['Client key (PEM)', '客户端私钥（PEM）'], {
        hint: keepsSecret,
      }),
    ],
  },
  {
    key: 'bot.verifiers',
    tab: 'services',
    title: ['CAPTCHA services', '验证码服务'],
    add: ['Add a CAPTCHA service', '添加验证码服务'],
    empty: [
      'No CAPTCHA service: challenges are the built-in ones.',
      '没有验证码服务：使用内置质询。',
    ],
    columns: ['id', 'kind', 'hosts'],
    fields: [
      row('id', 'text', '', id),
      row('kind', 'text', '', ['Service', '服务'], {
        choices: [
          ['turnstile', ['Cloudflare Turnstile', 'Cloudflare Turnstile']],
          ['hcaptcha', ['hCaptcha', 'hCaptcha']],
          ['recaptcha', ['reCAPTCHA', 'reCAPTCHA']],
          ['recaptcha_score', ['reCAPTCHA by score', 'reCAPTCHA 评分']],
        ],
      }),
      row('hosts', 'lines', [], ['Hosts of sites', '站点主机名'], {
        hint: ['One per line; * for all others', '每行一个；* 代表其余所有站点'],
      }),
      row('siteKey', 'text', '', ['Site key', '站点密钥']),
      row('secret', 'secret', '', ['Secret', '密钥'], { hint: keepsSecret }),
      row('scriptUrl', 'text', '', ['Address of its script', '脚本地址'], {
        hint: ['Empty: that of the service', '留空则为该服务的地址'],
      }),
      row('verifyUrl', 'text', '', ['Address that checks answers', '校验地址'], {
        hint: ['Empty: that of the service', '留空则为该服务的地址'],
      }),
      row('minScore', 'number', 0.5, [
        'Least score that passes, 0 to 1',
        '通过的最低评分（0 至 1）',
      ]),
      row('fallback', 'check', true, [
        'Who cannot use it answers the built-in question',
        '无法使用者回答内置问题',
      ]),
    ],
  },
];
