/** Certificates: which there are and until when, a new one, and the DNS providers of ACME. */

import { createClient } from '@connectrpc/connect';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CertService, type Certificate } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { never, useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { partsOf, type Field } from '../parts/edit.tsx';
import { FoldedEdit, List, usePages, type Listed, type Pages } from '../parts/list.tsx';
import { Card, Head } from '../parts/panel.tsx';
import { pemParts } from '../parts/pem.ts';
import { Failure } from '../parts/state.tsx';
import { stateName } from '../parts/state-name.ts';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { localTime, pageTexts } from '../text/text.ts';

const certs = createClient(CertService, transport);
const dayMs = 86_400_000;
const soonDays = 14;

const w = pageTexts({
  title: ['Certificates', '证书'],
  note: [
    'What TLS of sites shows to clients. Managed ones renew themselves.',
    '站点 TLS 向客户端出示的证书。托管证书会自动续期。',
  ],
  name: ['Name', '名称'],
  names: ['Host names', '主机名'],
  issuer: ['Issuer', '颁发者'],
  until: ['Valid until', '有效期至'],
  days: ['{days} days', '{days} 天'],
  expired: ['expired', '已过期'],
  kind: ['Renewal', '续期'],
  managed: ['By itself', '自动'],
  own: ['By you', '手动'],
  empty: [
    'No certificate yet: upload one or let an authority issue one.',
    '还没有证书：请上传或由证书机构签发。',
  ],
  renew: ['Renew', '续期'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete this certificate?', '删除此证书？'],
  upload: ['Upload a certificate', '上传证书'],
  cert: ['Certificate and chain, PEM', '证书及证书链（PEM）'],
  key: ['Private key, PEM', '私钥（PEM）'],
  issue: ['Let an authority issue one (ACME)', '由证书机构签发（ACME）'],
  hosts: ['Host names, one a line', '主机名，每行一个'],
  email: ['Mail address', '邮箱'],
  staging: ["The authority's test environment", '使用测试环境'],
  order: [
    'Ordered. The list shows it once the authority has checked the names.',
    '已提交。证书机构验证后会显示在列表中。',
  ],
  providers: ['DNS providers', 'DNS 服务商'],
  providersNote: [
    'Wildcard names are proved by a DNS record that a provider sets.',
    '通配符域名通过 DNS 服务商写入的记录验证。',
  ],
  provider: ['Provider', '服务商'],
  zones: ['Zones', '区域'],
  state: ['State', '状态'],
  noProvider: [
    'No DNS provider: wildcard names cannot be issued.',
    '没有 DNS 服务商：无法签发通配符证书。',
  ],
  addProvider: ['Add a DNS provider', '添加 DNS 服务商'],
  apiToken: ['API token', 'API 令牌'],
  accessKeyId: ['Access key', '访问密钥 ID'],
  accessKeySecret: ['Secret of the access key', '访问密钥'],
  secretAccessKey: ['Secret of the access key', '访问密钥'],
  server: ['Server that takes updates', '接受更新的服务器'],
  serverHint: ['For example 192.0.2.53:53', '例如 192.0.2.53:53'],
  keyName: ['Name of the TSIG key', 'TSIG 密钥名称'],
  secret: ['Secret of the TSIG key, base64', 'TSIG 密钥（base64）'],
  add: ['Add', '添加'],
});

/** The page. */
export function Certificates(): JSX.Element {
  const found = usePages('certs', (page, signal) => certs.listCerts({ page }, { signal }));
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <CertTable found={found} />
      <FoldedEdit
        label={w('upload')}
        codes={['cert:write']}
        submit={w('upload')}
        fields={[
          { name: 'name', label: w('name'), required: true },
          {
            name: 'cert',
            api: ['certPem', 'chainPem'],
            label: w('cert'),
            kind: 'area',
            required: true,
          },
          { name: 'key', api: ['keyPem'], label: w('key'), kind: 'area', required: true },
        ]}
        save={({ name = '', cert = '', key = '' }) =>
          certs.uploadCert({ name, ...pemParts(cert, key) })
        }
        saved={found.reload}
      />
      <FoldedEdit
        label={w('issue')}
        codes={['cert:issue']}
        submit={w('issue')}
        done={w('order')}
        fields={[
          { name: 'name', label: w('name'), required: true },
          { name: 'email', label: w('email'), required: true },
          { name: 'staging', label: w('staging'), kind: 'check' },
          { name: 'hosts', api: ['dnsNames'], label: w('hosts'), kind: 'area', required: true },
        ]}
        save={async ({ name = '', email = '', hosts, staging }) => {
          const dnsNames = partsOf(hosts);
          await certs.issueACMECert({ name, email, dnsNames, staging: staging === 'on' });
        }}
        saved={found.reload}
      />
      <Providers />
    </>
  );
}

function CertTable({ found }: { readonly found: Pages<Listed<Certificate>> }): JSX.Element {
  return (
    <List
      of={found}
      label={w('title')}
      empty={w('empty')}
      columns={[
        { title: w('name'), of: ({ name }) => name },
        { title: w('names'), of: ({ dnsNames }) => dnsNames.join(', ') },
        { title: w('issuer'), of: ({ issuer }) => issuer },
        {
          title: w('until'),
          by: ({ notAfter }) => notAfter,
          of: (cert) => <Until cert={cert} />,
        },
        { title: w('kind'), of: ({ managed }) => w(managed ? 'managed' : 'own') },
        {
          title: '',
          of: ({ id, managed }) => (
            <span class="actions">
              {managed && (
                <Act
                  label={w('renew')}
                  codes={['cert:issue']}
                  run={() => certs.renewCert({ id })}
                  done={found.reload}
                />
              )}
              <Act
                label={w('remove')}
                ask={w('removeAsk')}
                codes={['cert:delete']}
                run={() => certs.deleteCert({ id })}
                done={found.reload}
              />
            </span>
          ),
        },
      ]}
    />
  );
}

function Until({ cert }: { readonly cert: Certificate }): JSX.Element {
  const { notAfter } = cert;
  if (notAfter === undefined) return <span>–</span>;
  const days = Math.floor((timestampMs(notAfter) - Date.now()) / dayMs);
  return (
    <span class={days < 0 ? 'blocked' : days < soonDays ? 'warning' : ''}>
      {localTime(notAfter)}{' '}
      <span class="badge">{days < 0 ? w('expired') : w('days', { days })}</span>
    </span>
  );
}

/** What each provider asks for, by the names of the API. */
const accountFields = (driver: string): readonly Field[] => {
  const secret = (name: 'apiToken' | 'accessKeySecret' | 'secretAccessKey' | 'secret'): Field => ({
    ...{ name, label: w(name), kind: 'password', required: true },
  });
  const keyId = { name: 'accessKeyId', label: w('accessKeyId'), required: true };
  switch (driver) {
    case 'cloudflare':
      return [secret('apiToken')];
    case 'aliyun':
      return [keyId, secret('accessKeySecret')];
    case 'route53':
      return [keyId, secret('secretAccessKey')];
    case 'rfc2136':
      return [
        { name: 'server', label: w('server'), hint: w('serverHint'), required: true },
        { name: 'keyName', label: w('keyName'), required: true },
        secret('secret'),
      ];
    default:
      return [];
  }
};

function Providers(): JSX.Element {
  const found = useCall('providers', (signal) => certs.listDNSProviders({}, { signal }));
  const drivers = useCall(
    'drivers',
    (signal) => certs.listDNSProviderDrivers({}, { signal }),
    never,
  );
  const names = drivers.value?.drivers ?? [];
  const [chosen, choose] = useState('');
  const known = chosen || (names[0] ?? '');
  return (
    <Card title={w('providers')} note={w('providersNote')}>
      <List
        of={found}
        label={w('providers')}
        empty={w('noProvider')}
        columns={[
          { title: w('name'), of: ({ name }) => name },
          { title: w('provider'), of: ({ provider }) => provider },
          { title: w('zones'), of: ({ zones }) => zones.join(', ') },
          {
            title: w('state'),
            of: ({ status, lastError }) =>
              [stateName(status), said(lastError)].filter(Boolean).join(': '),
          },
        ]}
        remove={{
          label: w('remove'),
          ask: w('removeAsk'),
          codes: ['cert:delete'],
          run: ({ id }) => certs.deleteDNSProvider({ id }),
        }}
      />
      <Failure of={drivers} />
      <FoldedEdit
        inside
        label={w('addProvider')}
        codes={['cert:write']}
        submit={w('add')}
        fields={[
          { name: 'name', label: w('name'), required: true },
          {
            name: 'provider',
            label: w('provider'),
            value: known,
            choices: names.map((one) => [one, one] as const),
            chosen: choose,
          },
          { name: 'zones', label: w('zones'), required: true },
          ...accountFields(known),
        ]}
        save={async ({ name = '', provider = '', zones, ...account }) => {
          const { server, keyName, ...credentials } = account;
          const settings = server === undefined ? {} : { server, keyName: keyName ?? '' };
          const credentialsJson = new TextEncoder().encode(JSON.stringify(credentials));
          await certs.createDNSProvider({
            ...{ name, provider, settings, credentialsJson },
            zones: partsOf(zones),
          });
        }}
        saved={found.reload}
      />
    </Card>
  );
}
