/**
 * The first run: the administrator's password, then host, origin and certificate of the first site,
 * and a test request that is blocked, shown as it happens.
 */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ResourceStatus } from '../../../proto/gen/waf/v1/common_pb.ts';
import {
  SiteService,
  TlsHttpBehavior,
  TlsMode,
  WafMode,
  type CreateSiteResponse,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { go } from '../address.ts';
import { lazy } from '../lazy.tsx';
import { Edit, type Values } from '../parts/edit.tsx';
import { Card, Head } from '../parts/panel.tsx';
import { Link } from '../parts/link.tsx';
import { pemParts } from '../parts/pem.ts';
import { knowsFirstPassword, person, replaceFirstPassword, transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { FirstAttack } from './first-attack.tsx';

const sites = createClient(SiteService, transport);
const certs = createClient(CertService, transport);

const KnownApplication = lazy(
  async () => (await import('./known-application.tsx')).KnownApplication,
);

const w = pageTexts({
  title: ['Welcome', '欢迎'],
  note: [
    'A password of yours, a site, and a first blocked attack.',
    '设置密码、添加站点，并查看第一次拦截。',
  ],
  steps: ['Steps', '步骤'],
  stepPassword: ['1. Password', '1. 密码'],
  stepSite: ['2. Site', '2. 站点'],
  stepAttack: ['3. First blocked attack', '3. 第一次拦截'],
  password: ["Set the administrator's password", '设置管理员密码'],
  passwordNote: [
    'The file with the first password is removed then. Other sessions of this user end.',
    '随后会删除初始密码文件，该用户的其他会话将结束。',
  ],
  current: ['The first password', '初始密码'],
  next: ['New password', '新密码'],
  nextHint: ['At least 12 characters', '至少 12 个字符'],
  again: ['New password again', '再次输入新密码'],
  differ: ['The new passwords differ.', '两次输入的新密码不一致。'],
  set: ['Set password', '设置密码'],
  site: ['Add the first site', '添加第一个站点'],
  siteNote: [
    'Requests for the host are inspected and forwarded to the origin.',
    '对该主机名的请求会先检测，再转发到源站。',
  ],
  host: ['Host', '主机名'],
  hostHint: ['For example shop.example', '例如 shop.example'],
  origin: ['Origin', '源站'],
  originHint: ['For example http://127.0.0.1:3000', '例如 http://127.0.0.1:3000'],
  certificate: ['Certificate', '证书'],
  none: ['None: plain HTTP', '无：仅 HTTP'],
  own: ['My own', '自有证书'],
  acme: ["Let's Encrypt (ACME)", "Let's Encrypt（ACME）"],
  cert: ['Certificate and chain, PEM', '证书及证书链（PEM）'],
  key: ['Private key, PEM', '私钥（PEM）'],
  email: ['Mail address for the authority', '证书机构联系邮箱'],
  add: ['Add site', '添加站点'],
  skip: ['Skip this', '跳过'],
});

/** The page: the step that is due. */
export function Start(): JSX.Element {
  const [answer, setAnswer] = useState<CreateSiteResponse | null>(null);
  const { site, recognizedApplication: known } = answer ?? {};
  const step = person.value.firstPassword ? 0 : site === undefined ? 1 : 2;
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <ol class="steps" aria-label={w('steps')}>
        {(['stepPassword', 'stepSite', 'stepAttack'] as const).map((name, index) => (
          <li {...(index === step ? { 'aria-current': 'step' } : {})}>{w(name)}</li>
        ))}
      </ol>
      {step === 0 && <Password />}
      {step === 1 && <NewSite created={setAnswer} />}
      {known !== undefined && <KnownApplication siteId={site?.id ?? ''} found={known} />}
      {step === 2 && site !== undefined && <FirstAttack site={site} />}
    </>
  );
}

function Password(): JSX.Element {
  const save = async ({ current = '', next = '', again = '' }: Values): Promise<void> => {
    if (next !== again) throw new Error(w('differ'));
    await replaceFirstPassword(current, next);
    go('/start', true);
    person.value = { ...person.value, firstPassword: false };
  };
  const currentField = {
    name: 'current',
    api: ['currentPassword'],
    label: w('current'),
    kind: 'password',
    required: true,
  } as const;
  return (
    <Card title={w('password')} note={w('passwordNote')}>
      <Edit
        label={w('password')}
        codes={[]}
        submit={w('set')}
        save={save}
        fields={[
          ...(knowsFirstPassword() ? [] : [currentField]),
          {
            name: 'next',
            api: ['newPassword'],
            label: w('next'),
            kind: 'password',
            required: true,
            hint: w('nextHint'),
          },
          { name: 'again', label: w('again'), kind: 'password', required: true },
        ]}
      />
    </Card>
  );
}

function NewSite({
  created,
}: {
  readonly created: (answer: CreateSiteResponse) => void;
}): JSX.Element {
  const [kind, setKind] = useState('none');
  const certificate = {
    none: [],
    own: [
      {
        name: 'cert',
        api: ['certPem', 'chainPem'],
        label: w('cert'),
        kind: 'area',
        required: true,
      },
      { name: 'key', api: ['keyPem'], label: w('key'), kind: 'area', required: true },
    ],
    acme: [{ name: 'email', label: w('email'), required: true }],
  } as const;
  const kinds = ['none', 'own', 'acme'] as const;
  return (
    <Card title={w('site')} note={w('siteNote')}>
      <Edit
        label={w('site')}
        codes={kind === 'none' ? ['site:write'] : ['site:write', 'cert:write']}
        submit={w('add')}
        save={async (values) => created(await createSite(kind, values))}
        fields={[
          {
            name: 'host',
            api: ['primaryHost'],
            label: w('host'),
            required: true,
            hint: w('hostHint'),
          },
          {
            name: 'origin',
            api: ['upstreams', 'url'],
            label: w('origin'),
            required: true,
            hint: w('originHint'),
          },
          {
            name: 'certificate',
            label: w('certificate'),
            value: kind,
            choices: kinds.map((one) => [one, w(one)] as const),
            chosen: setKind,
          },
          ...certificate[kinds.find((one) => one === kind) ?? 'none'],
        ]}
      />
      <p>
        <Link href="/">{w('skip')}</Link>
      </p>
    </Card>
  );
}

async function createSite(kind: string, values: Values): Promise<CreateSiteResponse> {
  const { host = '', origin = '' } = values;
  const site = {
    name: host,
    primaryHost: host,
    upstreams: [{ inline: { url: origin, weight: 1 } }],
    waf: { enabled: true, mode: WafMode.BLOCKING },
    status: ResourceStatus.ACTIVE,
  };
  const certId = await certificateOf(kind, host, values);
  return sites.createSite({
    recognizeApplication: true,
    site: certId === '' ? site : { ...site, tls: tls(kind, certId) },
  });
}

function tls(kind: string, certId: string): object {
  return {
    mode: kind === 'acme' ? TlsMode.MANAGED_ACME : TlsMode.UPLOADED,
    certId,
    httpBehavior: TlsHttpBehavior.REDIRECT_TO_HTTPS,
  };
}

/** The id of the certificate that was chosen; '' for none. */
async function certificateOf(kind: string, host: string, values: Values): Promise<string> {
  const { cert = '', key = '', email = '' } = values;
  if (kind === 'own') {
    const answer = await certs.uploadCert({ name: host, ...pemParts(cert, key) });
    return answer.cert?.id ?? '';
  }
  if (kind !== 'acme') return '';
  const answer = await certs.issueACMECert({ name: host, dnsNames: [host], email });
  return answer.cert?.id ?? '';
}
