/** How a site speaks TLS: its certificate, chosen, uploaded or ordered; what plain HTTP gets. */

import { createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { CertService, type Certificate } from '../../../proto/gen/waf/v1/cert_pb.ts';
import {
  SiteService,
  TlsConfigSchema,
  TlsHttpBehavior,
  TlsMode,
  TlsVersion,
  type Site,
  type TlsConfig,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { useCall } from '../call.ts';
import type { Field, Values } from '../parts/edit.tsx';
import { Link } from '../parts/link.tsx';
import { allItems, FoldedEdit } from '../parts/list.tsx';
import { MadeOnce } from '../parts/made-once.ts';
import { Card } from '../parts/panel.tsx';
import { pemParts } from '../parts/pem.ts';
import { refusalText } from '../parts/refusal.ts';
import { State } from '../parts/state.tsx';
import { transport } from '../session.ts';
import { localTime, pageTexts } from '../text/text.ts';
import { SiteEdit, type ShownSite } from './site-form.tsx';

const sites = createClient(SiteService, transport);
const certs = createClient(CertService, transport);

const w = pageTexts({
  note: [
    'A managed certificate is ordered and renewed by itself; port 80 of the host has to reach the proxy.',
    '托管证书会自动申请并续期；主机的 80 端口必须能到达代理。',
  ],
  mode: ['Certificate', '证书'],
  none: ['None: plain HTTP only', '无：仅 HTTP'],
  managed: ['Managed: ordered and renewed (ACME)', '托管：自动申请与续期（ACME）'],
  uploaded: ['The one below', '使用下方证书'],
  cert: ['Certificate of your own', '自有证书'],
  noCert: ['None', '无'],
  unused: [
    'To use this certificate, choose “the one below” above it.',
    '要使用此证书，请在上方选择“使用下方证书”。',
  ],
  until: ['{name}, until {time}', '{name}，有效期至 {time}'],
  version: ['Lowest version', '最低版本'],
  http: ['Plain HTTP', 'HTTP 请求'],
  redirect: ['Is sent to https', '跳转到 https'],
  acmeOnly: ['Only answers the authority', '仅响应证书机构验证'],
  both: ['Is served, too', '同样提供服务'],
  hsts: ['Browsers keep to TLS for seconds (HSTS)', '浏览器仅用 TLS 的秒数（HSTS）'],
  subdomains: ['And for all subdomains', '包含所有子域名'],
  upload: ['Upload a certificate for this site', '为此站点上传证书'],
  name: ['Name', '名称'],
  pem: ['Certificate and chain, PEM', '证书及证书链（PEM）'],
  key: ['Private key, PEM', '私钥（PEM）'],
  uploadIt: ['Upload and use', '上传并使用'],
  half: [
    'The certificate was uploaded, but this site does not use it yet. Submit again to try only that part. Reason: {reason}',
    '证书已上传，但此站点尚未使用它。再次提交时仅重试使用这一步。原因：{reason}',
  ],
  more: ['All certificates', '全部证书'],
});

const fieldNames = [
  ...['mode', 'certId', 'minVersion', 'httpBehavior'],
  ...['hstsMaxAgeSeconds', 'hstsIncludeSubdomains'],
];

/** The view. */
export function SiteTls({ of }: { readonly of: ShownSite }): JSX.Element {
  const found = useCall('certs', (signal) =>
    allItems((page) => certs.listCerts({ page }, { signal })),
  );
  return (
    <State of={found}>
      {(items) => (
        <>
          <Card title="TLS" note={w('note')}>
            <SiteEdit
              key={of.site.tls?.certId ?? ''}
              of={of}
              label="TLS"
              mask={fieldNames.map((name) => `tls.${name}`)}
              fields={(site) => tlsFields(tlsOf(site), items)}
              apply={(site, values) => ({ ...site, tls: enteredTls(site, values) })}
            />
            <p>
              <Link href="/certificates">{w('more')}</Link>
            </p>
          </Card>
          <Upload of={of} listed={found.reload} />
        </>
      )}
    </State>
  );
}

/** Uploads a certificate and has the site use it: two calls; the second can fail alone. */
function Upload({
  of,
  listed,
}: {
  readonly of: ShownSite;
  readonly listed: () => void;
}): JSX.Element {
  const { current: made } = useRef(new MadeOnce());
  const upload = async (name: string, cert: string, key: string): Promise<string> =>
    (await certs.uploadCert({ name, ...pemParts(cert, key) })).cert?.id ?? '';
  const use = async (certId: string): Promise<void> => {
    const before = (await sites.getSite({ id: of.site.id })).site ?? of.site;
    const tls = { ...tlsOf(before), mode: TlsMode.UPLOADED, certId };
    const updateMask = 'tls.mode,tls.certId';
    await sites.updateSite({ site: { ...before, tls }, revision: before.revision, updateMask });
  };
  return (
    <FoldedEdit
      label={w('upload')}
      codes={['cert:write', 'site:write']}
      submit={w('uploadIt')}
      fields={[
        { name: 'name', label: w('name'), value: of.site.primaryHost, required: true },
        {
          name: 'cert',
          api: ['certPem', 'chainPem'],
          label: w('pem'),
          kind: 'area',
          required: true,
        },
        { name: 'key', api: ['keyPem'], label: w('key'), kind: 'area', required: true },
      ]}
      save={async ({ name = '', cert = '', key = '' }) => {
        try {
          const id = await made.id([name, cert, key], () => upload(name, cert, key));
          await use(id).catch((thrown: unknown) => {
            throw new Error(w('half', { reason: refusalText(thrown) }), { cause: thrown });
          });
          made.used();
        } finally {
          // The certificate is there also where the site does not use it.
          listed();
          of.changed();
        }
      }}
    />
  );
}

const tlsOf = ({ tls }: Site): TlsConfig => tls ?? create(TlsConfigSchema);

function tlsFields(tls: TlsConfig, known: readonly Certificate[]): Field[] {
  return [
    {
      name: 'mode',
      label: w('mode'),
      value: String(tls.mode || TlsMode.NONE),
      choices: [
        [String(TlsMode.NONE), w('none')],
        [String(TlsMode.MANAGED_ACME), w('managed')],
        [String(TlsMode.UPLOADED), w('uploaded')],
      ],
    },
    {
      name: 'cert',
      api: ['certPem', 'chainPem', 'certId'],
      label: w('cert'),
      value: tls.certId,
      choices: [
        ['', w('noCert')],
        ...known.map(
          ({ id, name, notAfter }) =>
            [id, w('until', { name, time: localTime(notAfter) })] as const,
        ),
      ],
    },
    {
      name: 'version',
      api: ['minVersion'],
      label: w('version'),
      value: String(tls.minVersion || TlsVersion.TLS_VERSION_1_2),
      choices: [
        [String(TlsVersion.TLS_VERSION_1_2), 'TLS 1.2'],
        [String(TlsVersion.TLS_VERSION_1_3), 'TLS 1.3'],
      ],
    },
    {
      name: 'http',
      label: w('http'),
      value: String(tls.httpBehavior || TlsHttpBehavior.REDIRECT_TO_HTTPS),
      choices: [
        [String(TlsHttpBehavior.REDIRECT_TO_HTTPS), w('redirect')],
        [String(TlsHttpBehavior.SERVE_BOTH), w('both')],
        [String(TlsHttpBehavior.ACME_ONLY), w('acmeOnly')],
      ],
    },
    {
      name: 'hsts',
      api: ['hstsMaxAgeSeconds'],
      label: w('hsts'),
      kind: 'number',
      value: String(tls.hstsMaxAgeSeconds),
    },
    {
      name: 'subdomains',
      label: w('subdomains'),
      kind: 'check',
      value: tls.hstsIncludeSubdomains ? 'on' : '',
    },
  ];
}

function enteredTls(site: Site, values: Values): TlsConfig {
  const before = tlsOf(site);
  const mode = Number(values['mode']) as TlsMode;
  const chosen = values['cert'] ?? '';
  if (mode !== TlsMode.UPLOADED && chosen !== '' && chosen !== before.certId)
    throw new Error(w('unused'));
  const kept = mode === before.mode ? before.certId : '';
  return {
    ...before,
    mode,
    certId: mode === TlsMode.UPLOADED ? chosen : kept,
    minVersion: Number(values['version']) as TlsVersion,
    httpBehavior: Number(values['http']) as TlsHttpBehavior,
    hstsMaxAgeSeconds: Number(values['hsts']),
    hstsIncludeSubdomains: values['subdomains'] === 'on',
  };
}
