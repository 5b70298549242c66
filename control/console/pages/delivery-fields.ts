/** The lists of a site's delivery that change fields of messages, and cookies of the origin. */

import { create } from '@bufbuild/protobuf';
import {
  CookieRuleSchema,
  CookieSameSite,
  FieldChangeMode,
  FieldChangeSchema,
} from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { pageTexts } from '../text/text.ts';
import type { DeliveryKind } from './delivery-list.tsx';

const w = pageTexts({
  request: ['Fields of requests to the origin', '转发给源站的字段'],
  requestNote: [
    'A secret for an origin belongs to its pool, which never shows it.',
    '给源站的密钥应放在源站池中，那里从不显示。',
  ],
  response: ['Fields of answers', '响应字段'],
  responseNote: ["Changes of the origin's answers.", '更改源站的响应。'],
  noField: ['No field is changed.', '未更改字段。'],
  addRequest: ['Change a field of requests', '更改请求字段'],
  addResponse: ['Change a field of answers', '更改响应字段'],
  field: ['Field', '字段'],
  value: ['Value', '值'],
  removed: ['Removed', '移除'],
  remove: ['Take the field away', '移除该字段'],
  mode: ['Other values of the field', '该字段的其他值'],
  replace: ['are taken away', '移除'],
  add: ['stay, this one comes after them', '保留，此值追加其后'],
  default: ['stay, this one is left out then', '保留，此值则不写入'],
  cookies: ['Cookies of the origin', '源站的 Cookie'],
  cookiesNote: [
    'Attributes that browsers obey. Secure is written over TLS only.',
    '浏览器遵守的属性。Secure 仅在 TLS 上写入。',
  ],
  noCookie: ['Cookies pass as the origin sets them.', 'Cookie 按源站设置的原样传递。'],
  addCookie: ['Harden a cookie', '加固 Cookie'],
  cookie: ['Cookie, empty for all others', 'Cookie 名称，留空表示其余全部'],
  others: ['All others', '其余全部'],
  attributes: ['Attributes', '属性'],
  secure: ['Secure: over TLS only', 'Secure：仅限 TLS'],
  httpOnly: ['HttpOnly: hidden from scripts', 'HttpOnly：脚本不可读取'],
  sameSite: ['SameSite: requests of other sites', 'SameSite：来自其他站点的请求'],
  asSent: ['as the origin says', '按源站所述'],
});

const on = (set: boolean | undefined): string => (set === true ? 'on' : '');
const modes = [
  [FieldChangeMode.REPLACE, 'replace'],
  [FieldChangeMode.ADD, 'add'],
  [FieldChangeMode.DEFAULT, 'default'],
] as const;
const sameSites = [
  [CookieSameSite.STRICT, 'Strict'],
  [CookieSameSite.LAX, 'Lax'],
  [CookieSameSite.NONE, 'None'],
] as const;

function chosenOf<T extends number>(
  choices: readonly (readonly [code: T, text: string])[],
  value: string | undefined,
): T | undefined {
  return choices.find(([code]) => String(code) === value)?.[0];
}

/** Changes of fields, of requests or of answers. */
export function fieldChanges<N extends 'requestFields' | 'responseFields'>(
  name: N,
  title: 'request' | 'response',
  add: 'addRequest' | 'addResponse',
): DeliveryKind<N> {
  return {
    name,
    title: w(title),
    note: w(`${title}Note`),
    empty: w('noField'),
    add: w(add),
    columns: [
      { title: w('field'), of: (change) => change.name },
      { title: w('value'), of: ({ remove, value }) => (remove ? w('removed') : value) },
    ],
    fields: (entry) => [
      { name: 'name', label: w('field'), value: entry?.name ?? '', required: true },
      { name: 'value', label: w('value'), value: entry?.value ?? '' },
      {
        name: 'mode',
        label: w('mode'),
        value: String(entry?.mode || FieldChangeMode.REPLACE),
        choices: modes.map(([mode, text]) => [String(mode), w(text)] as const),
      },
      { name: 'remove', label: w('remove'), kind: 'check', value: on(entry?.remove) },
    ],
    entered: (values, before) => {
      const remove = values['remove'] === 'on';
      return {
        ...(before ?? create(FieldChangeSchema)),
        name: values['name'] ?? '',
        value: remove ? '' : (values['value'] ?? ''),
        mode: (remove ? null : chosenOf(modes, values['mode'])) ?? FieldChangeMode.REPLACE,
        remove,
      };
    },
  };
}

/** Attributes of cookies. */
export function cookieRules(): DeliveryKind<'cookies'> {
  return {
    name: 'cookies',
    title: w('cookies'),
    note: w('cookiesNote'),
    empty: w('noCookie'),
    add: w('addCookie'),
    columns: [
      { title: w('cookie'), of: ({ name }) => name || w('others') },
      {
        title: w('attributes'),
        of: ({ secure, httpOnly, sameSite }) => {
          const site = sameSites.find(([code]) => code === sameSite)?.[1];
          const named = [secure && 'Secure', httpOnly && 'HttpOnly', site && `SameSite=${site}`];
          return named.filter(Boolean).join('; ');
        },
      },
    ],
    fields: (entry = create(CookieRuleSchema)) => [
      { name: 'name', label: w('cookie'), value: entry.name },
      { name: 'secure', label: w('secure'), kind: 'check', value: on(entry.secure) },
      { name: 'httpOnly', label: w('httpOnly'), kind: 'check', value: on(entry.httpOnly) },
      {
        name: 'sameSite',
        label: w('sameSite'),
        value: String(entry.sameSite),
        choices: [
          [String(CookieSameSite.UNSPECIFIED), w('asSent')],
          ...sameSites.map(([code, text]) => [String(code), text] as const),
        ],
      },
    ],
    entered: (values, before) => ({
      ...(before ?? create(CookieRuleSchema)),
      name: values['name'] ?? '',
      secure: values['secure'] === 'on',
      httpOnly: values['httpOnly'] === 'on',
      sameSite: chosenOf(sameSites, values['sameSite']) ?? CookieSameSite.UNSPECIFIED,
    }),
  };
}
