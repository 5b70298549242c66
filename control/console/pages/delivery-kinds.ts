/** The lists of a site's delivery: what each shows, asks for, and makes of what was entered. */

import { create } from '@bufbuild/protobuf';
import {
  BasicAuthRuleSchema,
  BasicAuthUserSchema,
  BodyLimitRuleSchema,
  CompressionRuleSchema,
  CorsRuleSchema,
  PathRewriteSchema,
  SiteRedirectSchema,
  type BasicAuthRule,
} from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { partsOf, type Field, type Values } from '../parts/edit.tsx';
import { hashPathPassword } from '../parts/path-password.ts';
import { exactNumber, pageTexts } from '../text/text.ts';
import { services } from './delivery-entry.ts';
import { cookieRules, fieldChanges } from './delivery-fields.ts';
import type { DeliveryKind, ListName } from './delivery-list.tsx';
import { timeouts } from './delivery-times.ts';

const w = pageTexts({
  path: ['Path prefix', '路径前缀'],
  pathHint: ['/ for all paths', '/ 表示所有路径'],
  redirects: ['Redirects', '重定向'],
  redirectsNote: [
    'The first that fits answers, before anything else. /* at the end of a path takes all under it.',
    '首个匹配的规则优先响应。路径末尾的 /* 匹配其下所有路径。',
  ],
  noRedirect: ['No redirect.', '没有重定向。'],
  addRedirect: ['Add a redirect', '添加重定向'],
  from: ['Path', '路径'],
  to: ['Target', '目标'],
  toHint: ['A path or a URL; * stands for what /* took', '路径或 URL；* 代表 /* 匹配的部分'],
  host: ['Host, empty for all', '主机名，留空表示全部'],
  rewrites: ['Other paths at the origin', '源站的其他路径'],
  rewritesNote: [
    'The first that fits is taken. Rules inspect the path that was sent; the visitor sees no change.',
    '取首个匹配项。规则检查发送的路径；访问者看不到变化。',
  ],
  noRewrite: ['The origin gets the path that was sent.', '源站收到发送的路径。'],
  addRewrite: ['Change a path for the origin', '更改给源站的路径'],
  pathToHint: ['A path; * stands for what /* took', '路径；* 代表 /* 匹配的部分'],
  status: ['Status', '状态码'],
  lasting: ['{code}: for good, the method stays', '{code}：永久，保留方法'],
  brief: ['{code}: for now, the method stays', '{code}：临时，保留方法'],
  lastingGet: ['{code}: for good', '{code}：永久'],
  briefGet: ['{code}: for now', '{code}：临时'],
  otherGet: ['{code}: see the other with GET', '{code}：改用 GET 查看'],
  users: ['Users of paths', '路径访问用户'],
  usersNote: [
    'The longest prefix decides. Passwords are kept as hashes that are never shown.',
    '最长前缀优先。密码以哈希保存，从不显示。',
  ],
  noUser: ['Nobody is asked for a password.', '不要求密码。'],
  addUser: ['Ask for a password', '要求密码'],
  realm: ['Name that browsers show', '浏览器显示的名称'],
  names: ['Users, one a line; who is taken out may not enter', '用户，每行一个；移除者不能访问'],
  name: ['User to add, or to give another password', '要添加或更改密码的用户'],
  password: ['Password of this user', '该用户的密码'],
  open: [
    'Nobody is asked here, although a shorter prefix asks',
    '此处不要求密码（即使更短的前缀要求）',
  ],
  anyone: ['Nobody is asked', '不要求密码'],
  noPassword: [
    'These users have no password yet: {names}. Add one user at a time, with a password.',
    '以下用户尚无密码：{names}。请逐个添加用户并填写密码。',
  ],
  limits: ['Limits of request bodies', '请求正文大小限制'],
  limitsNote: [
    'The longest prefix decides. A longer body gets 413.',
    '最长前缀优先。更长的正文返回 413。',
  ],
  noLimit: ['Only the limits of the policy and the node count.', '仅策略与节点的限制有效。'],
  addLimit: ['Add a body limit', '添加正文限制'],
  bytes: ['Bytes', '字节'],
  cors: ['Pages of other origins (CORS)', '跨域访问（CORS）'],
  corsNote: [
    'Pages of these origins may read answers. Preflight requests are answered here.',
    '这些来源的页面可以读取响应。预检请求由代理响应。',
  ],
  noCors: ['The origin decides.', '由源站决定。'],
  addCors: ['Let pages of other origins read', '允许其他来源读取'],
  origins: ['Origins, one a line, or *', '来源，每行一个，或 *'],
  methods: ['Methods', '方法'],
  headers: ['Fields that requests may have', '请求可带的字段'],
  exposed: ['Fields that scripts may read', '脚本可读取的字段'],
  credentials: ['Cookies go along', '携带 Cookie'],
  age: ['Browsers remember it for seconds', '浏览器缓存秒数'],
  compression: ['Compression of answers', '响应压缩'],
  compressionNote: [
    'br or gzip, for clients that accept it. Leave out paths whose pages hold a secret beside text ' +
      'of the visitor: the length of an answer tells it (BREACH).',
    '对支持的客户端使用 br 或 gzip。页面同时含有机密与访问者文本的路径请勿压缩：响应长度会泄露机密（BREACH）。',
  ],
  noCompression: ['Answers stay as the origin sends them.', '响应按源站发送的原样传递。'],
  addCompression: ['Compress answers', '压缩响应'],
  types: ['Media types, empty for usual text', '媒体类型，留空表示常见文本'],
  least: ['From bytes, 0 for 1,024', '最小字节数，0 表示 1024'],
  off: ['Not here, although a shorter prefix has a rule', '此处不压缩（即使更短的前缀要求）'],
  isOff: ['Off', '关闭'],
  usual: ['Usual text', '常见文本'],
});

const statuses = [
  [308, 'lasting'],
  [307, 'brief'],
  [301, 'lastingGet'],
  [302, 'briefGet'],
  [303, 'otherGet'],
] as const;
const on = (set: boolean | undefined): string => (set === true ? 'on' : '');

/** The lists in the language of the page. */
export function deliveryKinds(): {
  readonly [N in ListName]: DeliveryKind<N>;
} {
  return {
    redirects: redirects(),
    rewrites: rewrites(),
    basicAuth: users(),
    forwardAuth: services(),
    bodyLimits: bodyLimits(),
    timeouts: timeouts(),
    cors: cors(),
    compression: compression(),
    requestFields: fieldChanges('requestFields', 'request', 'addRequest'),
    responseFields: fieldChanges('responseFields', 'response', 'addResponse'),
    cookies: cookieRules(),
  };
}

function redirects(): DeliveryKind<'redirects'> {
  return {
    name: 'redirects',
    title: w('redirects'),
    note: w('redirectsNote'),
    empty: w('noRedirect'),
    add: w('addRedirect'),
    ordered: true,
    columns: [
      { title: w('from'), of: ({ host, path }) => `${host}${path}` },
      { title: w('to'), of: ({ target }) => target },
      { title: w('status'), number: true, of: ({ status }) => String(status || 308) },
    ],
    fields: (entry = create(SiteRedirectSchema)) => [
      { name: 'path', label: w('from'), value: entry.path, required: true },
      { name: 'target', label: w('to'), value: entry.target, required: true, hint: w('toHint') },
      {
        name: 'status',
        label: w('status'),
        value: String(entry.status || 308),
        choices: statuses.map(([code, text]) => [String(code), w(text, { code })] as const),
      },
      { name: 'host', label: w('host'), value: entry.host },
    ],
    entered: ({ path = '', target = '', status, host = '' }, before) => ({
      ...(before ?? create(SiteRedirectSchema)),
      ...{ path, target, host, status: Number(status) },
    }),
  };
}

function rewrites(): DeliveryKind<'rewrites'> {
  return {
    name: 'rewrites',
    title: w('rewrites'),
    note: w('rewritesNote'),
    empty: w('noRewrite'),
    add: w('addRewrite'),
    ordered: true,
    columns: [
      { title: w('from'), of: (rule) => rule.path },
      { title: w('to'), of: ({ target }) => target },
    ],
    fields: (entry = create(PathRewriteSchema)) => [
      { name: 'path', label: w('from'), value: entry.path, required: true },
      {
        name: 'target',
        label: w('to'),
        value: entry.target,
        required: true,
        hint: w('pathToHint'),
      },
    ],
    entered: ({ path: from = '', target = '' }, before) => ({
      ...(before ?? create(PathRewriteSchema)),
      ...{ path: from, target },
    }),
  };
}

function users(): DeliveryKind<'basicAuth'> {
  return {
    name: 'basicAuth',
    title: w('users'),
    note: w('usersNote'),
    empty: w('noUser'),
    add: w('addUser'),
    columns: [
      { title: w('path'), of: ({ pathPrefix }) => pathPrefix },
      {
        title: w('users'),
        of: ({ open, users: all }) => (open ? w('anyone') : all.map(({ name }) => name).join(', ')),
      },
      { title: w('realm'), of: ({ realm }) => realm },
    ],
    fields: (entry) => [
      path(entry?.pathPrefix),
      { name: 'realm', label: w('realm'), value: entry?.realm ?? '' },
      ...(entry === undefined
        ? []
        : [
            {
              name: 'names',
              api: ['users'],
              label: w('names'),
              kind: 'area' as const,
              value: entry.users.map(({ name }) => name).join('\n'),
            },
          ]),
      { name: 'name', label: w('name') },
      { name: 'password', api: ['passwordHash'], label: w('password'), kind: 'password' },
      { name: 'open', label: w('open'), kind: 'check', value: on(entry?.open) },
    ],
    entered: enteredUsers,
  };
}

/** The rule; a user who stays keeps the password, which comes back as it is shown: hidden. */
async function enteredUsers(values: Values, before?: BasicAuthRule): Promise<BasicAuthRule> {
  const { prefix = '', realm = '', name = '', password = '' } = values;
  const open = values['open'] === 'on';
  const kept = new Set((values['names'] ?? '').split('\n').map((one) => one.trim()));
  kept.delete('');
  const known = (before?.users ?? []).filter((one) => kept.has(one.name) && one.name !== name);
  const lost = [...kept].filter((one) => one !== name && !known.some((user) => user.name === one));
  if (lost.length > 0) throw new Error(w('noPassword', { names: lost.join(', ') }));
  const added =
    name === ''
      ? []
      : password === ''
        ? (before?.users ?? []).filter((one) => one.name === name)
        : [create(BasicAuthUserSchema, { name, passwordHash: await hashPathPassword(password) })];
  if (name !== '' && added.length === 0) throw new Error(w('noPassword', { names: name }));
  const users = open ? [] : [...known, ...added];
  return { ...(before ?? create(BasicAuthRuleSchema)), pathPrefix: prefix, realm, open, users };
}

function bodyLimits(): DeliveryKind<'bodyLimits'> {
  return {
    name: 'bodyLimits',
    title: w('limits'),
    note: w('limitsNote'),
    empty: w('noLimit'),
    add: w('addLimit'),
    columns: [
      { title: w('path'), of: ({ pathPrefix }) => pathPrefix },
      { title: w('bytes'), number: true, of: ({ maxBytes }) => exactNumber(maxBytes) },
    ],
    fields: (entry) => [
      path(entry?.pathPrefix),
      {
        name: 'bytes',
        api: ['maxBytes'],
        label: w('bytes'),
        kind: 'number',
        value: String(entry?.maxBytes ?? 1_048_576n),
        required: true,
      },
    ],
    entered: ({ prefix = '', bytes = '' }, before) => ({
      ...(before ?? create(BodyLimitRuleSchema)),
      ...{ pathPrefix: prefix, maxBytes: BigInt(bytes) },
    }),
  };
}

function cors(): DeliveryKind<'cors'> {
  return {
    name: 'cors',
    title: w('cors'),
    note: w('corsNote'),
    empty: w('noCors'),
    add: w('addCors'),
    columns: [
      { title: w('path'), of: ({ pathPrefix }) => pathPrefix },
      { title: w('origins'), of: ({ allowedOrigins }) => allowedOrigins.join(', ') },
      { title: w('methods'), of: ({ allowedMethods }) => allowedMethods.join(', ') },
    ],
    fields: (entry = create(CorsRuleSchema)) => [
      path(entry.pathPrefix || undefined),
      {
        name: 'origins',
        api: ['allowedOrigins'],
        label: w('origins'),
        kind: 'area',
        value: entry.allowedOrigins.join('\n'),
        required: true,
      },
      {
        name: 'methods',
        api: ['allowedMethods'],
        label: w('methods'),
        value: entry.allowedMethods.join(', '),
      },
      {
        name: 'headers',
        api: ['allowedHeaders'],
        label: w('headers'),
        value: entry.allowedHeaders.join(', '),
      },
      {
        name: 'exposed',
        api: ['exposedHeaders'],
        label: w('exposed'),
        value: entry.exposedHeaders.join(', '),
      },
      {
        name: 'credentials',
        label: w('credentials'),
        kind: 'check',
        value: on(entry.allowCredentials),
      },
      {
        name: 'age',
        api: ['maxAgeSeconds'],
        label: w('age'),
        kind: 'number',
        value: String(entry.maxAgeSeconds),
      },
    ],
    entered: (values, before) => ({
      ...(before ?? create(CorsRuleSchema)),
      pathPrefix: values['prefix'] ?? '',
      allowedOrigins: partsOf(values['origins']),
      allowedMethods: partsOf(values['methods']).map((method) => method.toUpperCase()),
      allowedHeaders: partsOf(values['headers']),
      exposedHeaders: partsOf(values['exposed']),
      allowCredentials: values['credentials'] === 'on',
      maxAgeSeconds: Number(values['age']),
    }),
  };
}

function compression(): DeliveryKind<'compression'> {
  return {
    name: 'compression',
    title: w('compression'),
    note: w('compressionNote'),
    empty: w('noCompression'),
    add: w('addCompression'),
    columns: [
      { title: w('path'), of: ({ pathPrefix }) => pathPrefix },
      {
        title: w('types'),
        of: ({ off, types }) => (off ? w('isOff') : types.join(', ') || w('usual')),
      },
      { title: w('least'), number: true, of: ({ minBytes }) => exactNumber(minBytes || 1_024) },
    ],
    fields: (entry = create(CompressionRuleSchema)) => [
      path(entry.pathPrefix || undefined),
      { name: 'types', label: w('types'), kind: 'area', value: entry.types.join('\n') },
      {
        name: 'least',
        api: ['minBytes'],
        label: w('least'),
        kind: 'number',
        value: String(entry.minBytes),
      },
      { name: 'off', label: w('off'), kind: 'check', value: on(entry.off) },
    ],
    entered: (values, before) => ({
      ...(before ?? create(CompressionRuleSchema)),
      pathPrefix: values['prefix'] ?? '',
      types: partsOf(values['types']),
      minBytes: Number(values['least']),
      off: values['off'] === 'on',
    }),
  };
}

const path = (value = '/'): Field => ({
  name: 'prefix',
  api: ['pathPrefix'],
  label: w('path'),
  value,
  required: true,
  hint: w('pathHint'),
});
