/** What a site does for visitors beside protection, each part with a form of its own. */

import { create } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import {
  MaintenanceModeSchema,
  StickySessionsSchema,
  type MaintenanceMode,
  type StickySessions,
} from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { partsOf, type Field, type Values } from '../parts/edit.tsx';
import { Card } from '../parts/panel.tsx';
import { pageTexts } from '../text/text.ts';
import { certificateFields, enteredCertificates } from './delivery-entry.ts';
import { deliveryKinds } from './delivery-kinds.ts';
import { DeliveryList, deliveryOf } from './delivery-list.tsx';
import { SiteEdit, type ShownSite } from './site-form.tsx';

const w = pageTexts({
  maintenance: ['Close the site for work', '维护模式'],
  maintenanceNote: [
    'Visitors get 503. Allowed clients and paths are served, and inspected as ever.',
    '访问者收到 503。允许的客户端与路径照常服务并检测。',
  ],
  enabled: ['The site is closed', '站点已关闭'],
  retry: ['Retry after seconds, 0 for none', '重试秒数，0 表示不提示'],
  title: ['Title of the page', '页面标题'],
  message: ['Text of the page', '页面文字'],
  networks: [
    'Addresses and networks that are served, one a line',
    '仍提供服务的地址与网段，每行一个',
  ],
  paths: ['Paths that are served, one a line', '仍提供服务的路径，每行一个'],
  certificates: ['Certificates of clients', '客户端证书'],
  certificatesNote: [
    'Clients show a certificate over TLS; the origin gets its subject and fingerprint.',
    '客户端通过 TLS 出示证书；源站收到其主体与指纹。',
  ],
  sticky: ['Sticky sessions', '会话保持'],
  stickyNote: [
    'A visitor stays with the address that answered first, by a cookie that origins never get.',
    '访问者通过 Cookie 保持访问首次响应的源站地址，源站不会收到该 Cookie。',
  ],
  stickyEnabled: ['Visitors stay with one address', '访问者保持同一地址'],
  cookieName: ['Name of the cookie, empty for waf-origin', 'Cookie 名称，留空表示 waf-origin'],
  maxAge: [
    'Browsers keep it for seconds, 0 until they are closed',
    '浏览器保留秒数，0 表示直到关闭浏览器',
  ],
  security: ['Who reports a weakness (security.txt)', '漏洞报告方式（security.txt）'],
  securityNote: [
    'The answer at /.well-known/security.txt; empty leaves the path to the origin.',
    '/.well-known/security.txt 的内容；留空则由源站响应。',
  ],
  text: ['Text, with lines Contact: and Expires:', '文本，需包含 Contact: 与 Expires: 行'],
});

/** The view. */
export function SiteDelivery({ of }: { readonly of: ShownSite }): JSX.Element {
  const kinds = deliveryKinds();
  return (
    <>
      <Card title={w('maintenance')} note={w('maintenanceNote')}>
        <SiteEdit
          of={of}
          label={w('maintenance')}
          mask={['delivery.maintenance']}
          fields={(site) => maintenanceFields(maintenanceOf(site))}
          apply={(site, values) => {
            const maintenance = enteredMaintenance(maintenanceOf(site), values);
            return { ...site, delivery: { ...deliveryOf(site), maintenance } };
          }}
        />
      </Card>
      <DeliveryList of={of} kind={kinds.redirects} />
      <DeliveryList of={of} kind={kinds.rewrites} />
      <DeliveryList of={of} kind={kinds.basicAuth} />
      <DeliveryList of={of} kind={kinds.forwardAuth} />
      <Card title={w('certificates')} note={w('certificatesNote')}>
        <SiteEdit
          of={of}
          label={w('certificates')}
          mask={['delivery.clientCertificates']}
          fields={(site) => certificateFields(deliveryOf(site).clientCertificates)}
          apply={(site, values) => {
            const clientCertificates = enteredCertificates(values);
            return { ...site, delivery: { ...deliveryOf(site), clientCertificates } };
          }}
        />
      </Card>
      <DeliveryList of={of} kind={kinds.bodyLimits} />
      <DeliveryList of={of} kind={kinds.timeouts} />
      <DeliveryList of={of} kind={kinds.cors} />
      <DeliveryList of={of} kind={kinds.compression} />
      <StickyCard of={of} />
      <DeliveryList of={of} kind={kinds.requestFields} />
      <DeliveryList of={of} kind={kinds.responseFields} />
      <DeliveryList of={of} kind={kinds.cookies} />
      <Card title={w('security')} note={w('securityNote')}>
        <SiteEdit
          of={of}
          label={w('security')}
          mask={['delivery.securityTxt']}
          fields={(site) => [
            {
              name: 'text',
              api: ['securityTxt'],
              label: w('text'),
              kind: 'area',
              value: deliveryOf(site).securityTxt,
            },
          ]}
          apply={(site, { text = '' }) => ({
            ...site,
            delivery: { ...deliveryOf(site), securityTxt: text.replaceAll('\r\n', '\n') },
          })}
        />
      </Card>
    </>
  );
}

const maintenanceOf = (site: ShownSite['site']): MaintenanceMode =>
  deliveryOf(site).maintenance ?? create(MaintenanceModeSchema);

function maintenanceFields(mode: MaintenanceMode): Field[] {
  return [
    { name: 'enabled', label: w('enabled'), kind: 'check', value: mode.enabled ? 'on' : '' },
    {
      name: 'retry',
      api: ['retryAfterSeconds'],
      label: w('retry'),
      kind: 'number',
      value: String(mode.retryAfterSeconds),
    },
    { name: 'title', label: w('title'), value: mode.title },
    { name: 'message', label: w('message'), kind: 'area', value: mode.message },
    {
      name: 'networks',
      api: ['allowedNetworks'],
      label: w('networks'),
      kind: 'area',
      value: mode.allowedNetworks.join('\n'),
    },
    {
      name: 'paths',
      api: ['allowedPaths'],
      label: w('paths'),
      kind: 'area',
      value: mode.allowedPaths.join('\n'),
    },
  ];
}

const enteredMaintenance = (before: MaintenanceMode, values: Values): MaintenanceMode => ({
  ...before,
  enabled: values['enabled'] === 'on',
  retryAfterSeconds: Number(values['retry']),
  title: values['title'] ?? '',
  message: (values['message'] ?? '').replaceAll('\r\n', '\n'),
  allowedNetworks: partsOf(values['networks']),
  allowedPaths: partsOf(values['paths']),
});

function StickyCard({ of }: { readonly of: ShownSite }): JSX.Element {
  return (
    <Card title={w('sticky')} note={w('stickyNote')}>
      <SiteEdit
        of={of}
        label={w('sticky')}
        mask={['delivery.stickySessions']}
        fields={(site) => stickyFields(deliveryOf(site).stickySessions)}
        apply={(site, values) => {
          const stickySessions = enteredSticky(values);
          return { ...site, delivery: { ...deliveryOf(site), stickySessions } };
        }}
      />
    </Card>
  );
}

const stickyFields = (before: StickySessions = create(StickySessionsSchema)): Field[] => [
  {
    ...{ name: 'stickyEnabled', api: ['enabled'], label: w('stickyEnabled'), kind: 'check' },
    value: before.enabled ? 'on' : '',
  },
  { name: 'cookieName', label: w('cookieName'), value: before.cookieName },
  {
    ...{ name: 'maxAge', api: ['maxAgeSeconds'], label: w('maxAge'), kind: 'number' },
    value: String(before.maxAgeSeconds),
  },
];

const enteredSticky = (values: Values): StickySessions =>
  create(StickySessionsSchema, {
    enabled: values['stickyEnabled'] === 'on',
    cookieName: values['cookieName'] ?? '',
    maxAgeSeconds: Number(values['maxAge']),
  });
