/** Who may enter a site: the list of services that are asked, and the form for certificates. */

import { create } from '@bufbuild/protobuf';
import {
  ClientCertificatesSchema,
  ForwardAuthRuleSchema,
  type ClientCertificates,
} from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { partsOf, type Field, type Values } from '../parts/edit.tsx';
import { pageTexts } from '../text/text.ts';
import type { DeliveryKind } from './delivery-list.tsx';

const w = pageTexts({
  title: ['Services that say who may enter', '外部认证服务'],
  note: [
    'The service gets the head of each request under the path. 2xx lets it continue.',
    '服务收到该路径下每个请求的头部，返回 2xx 则放行。',
  ],
  empty: ['No service is asked.', '不询问外部服务。'],
  add: ['Ask a service', '添加认证服务'],
  path: ['Path prefix', '路径前缀'],
  pathHint: ['/ for all paths', '/ 表示所有路径'],
  url: ['Address that is asked', '服务地址'],
  copied: ['Fields of its answer for the origin', '传给源站的响应字段'],
  timeout: ['Milliseconds it may take, 0 for 5,000', '超时毫秒数，0 表示 5000'],
  networks: ['Private networks that it may be in', '允许的私有网段'],
  open: [
    'Nobody is asked here, although a shorter prefix asks',
    '此处不询问（即使更短的前缀询问）',
  ],
  nobody: ['Nobody is asked', '不询问'],
  authorities: [
    'Authorities of clients, PEM; empty asks for none',
    '客户端证书的签发机构（PEM），留空不要求',
  ],
  lists: [
    'Certificate revocation lists (CRL), PEM; empty checks none',
    '证书吊销列表（CRL，PEM），留空不检查',
  ],
  optional: ['Requests without a certificate are served, too', '无证书的请求也提供服务'],
});

/** Services by path. */
export function services(): DeliveryKind<'forwardAuth'> {
  return {
    name: 'forwardAuth',
    title: w('title'),
    note: w('note'),
    empty: w('empty'),
    add: w('add'),
    columns: [
      { title: w('path'), of: ({ pathPrefix }) => pathPrefix },
      { title: w('url'), of: ({ open, url }) => (open ? w('nobody') : url) },
      { title: w('copied'), of: ({ copiedFields }) => copiedFields.join(', ') },
    ],
    fields: (entry = create(ForwardAuthRuleSchema)) => [
      {
        ...{ name: 'prefix', api: ['pathPrefix'], label: w('path'), hint: w('pathHint') },
        ...{ value: entry.pathPrefix || '/', required: true },
      },
      { name: 'url', label: w('url'), value: entry.url },
      {
        ...{ name: 'copied', api: ['copiedFields'], label: w('copied') },
        value: entry.copiedFields.join(', '),
      },
      {
        ...{ name: 'timeout', api: ['timeoutMs'], label: w('timeout'), kind: 'number' },
        value: String(entry.timeoutMs),
      },
      {
        ...{ name: 'networks', api: ['allowedNetworks'], label: w('networks') },
        value: entry.allowedNetworks.join(', '),
      },
      { name: 'open', label: w('open'), kind: 'check', value: entry.open ? 'on' : '' },
    ],
    entered: (values, before) => ({
      ...(before ?? create(ForwardAuthRuleSchema)),
      pathPrefix: values['prefix'] ?? '',
      url: values['url'] ?? '',
      copiedFields: partsOf(values['copied']),
      timeoutMs: Number(values['timeout']),
      allowedNetworks: partsOf(values['networks']),
      open: values['open'] === 'on',
    }),
  };
}

/** What is asked about certificates of clients. */
export const certificateFields = (before: ClientCertificates | undefined): Field[] => [
  {
    ...{ name: 'authorities', api: ['caPem'], label: w('authorities'), kind: 'area' },
    value: before?.caPem ?? '',
  },
  {
    ...{ name: 'lists', api: ['crlPem'], label: w('lists'), kind: 'area' },
    value: before?.crlPem ?? '',
  },
  {
    ...{ name: 'optional', label: w('optional'), kind: 'check' },
    value: before?.optional === true ? 'on' : '',
  },
];

/** What was entered. */
export const enteredCertificates = (values: Values): ClientCertificates =>
  create(ClientCertificatesSchema, {
    caPem: (values['authorities'] ?? '').replaceAll('\r\n', '\n'),
    crlPem: (values['lists'] ?? '').replaceAll('\r\n', '\n'),
    optional: values['optional'] === 'on',
  });
