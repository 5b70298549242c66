/** Tokens that programs call the API with. The text of one is shown once, and kept nowhere. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { TokenService, type ApiToken } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import { RoleService } from '../../../proto/gen/waf/v1/role_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { partsOf, type Values } from '../parts/edit.tsx';
import { allItems, FoldedEdit, List, usePages } from '../parts/list.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { useSiteNames } from '../parts/site-names.tsx';
import { Failure } from '../parts/state.tsx';
import { person, transport } from '../session.ts';
import { localTime, pageTexts, t } from '../text/text.ts';

const tokens = createClient(TokenService, transport);
const roles = createClient(RoleService, transport);
const dayMs = 86_400_000;
const hourSeconds = 3_600;

const w = pageTexts({
  tokens: ['Tokens', '令牌'],
  none: [
    'No token. A program that calls the API needs one: create it below.',
    '没有令牌。调用 API 的程序需要令牌：请在下方创建。',
  ],
  name: ['Name', '名称'],
  owner: ['Owner', '所有者'],
  role: ['Role', '角色'],
  scope: ['Only these sites', '仅限站点'],
  everywhere: ['All', '全部'],
  used: ['Last used', '最近使用'],
  usedBy: ['{at}, from {address}', '{at}，来自 {address}'],
  ends: ['Ends', '到期'],
  never: ['Never', '永不'],
  state: ['State', '状态'],
  usable: ['Works', '有效'],
  unusable: ['Refused', '已失效'],
  overlap: ['The text before works until {at}.', '旧令牌在 {at} 之前仍有效。'],
  create: ['Create a token', '创建令牌'],
  days: ['Days until it ends; empty for never', '有效天数；留空表示永不过期'],
  permissions: ['Only these permissions, one a line', '仅限权限，每行一个'],
  permissionsHint: ['Empty: all permissions of the role.', '留空：角色的全部权限。'],
  sites: ['Only the sites with these ids, one a line', '仅限这些站点编号，每行一个'],
  sitesHint: [
    'Empty: the whole deployment. With sites, only calls that name one of them are accepted.',
    '留空：整个部署。限定站点后，仅接受指明其中站点的调用。',
  ],
  manages: ['It may make tokens of its own', '可以自行创建令牌'],
  rotate: ['New text', '更换'],
  rotateAsk: [
    'Give {name} a new text? The one before works for another hour.',
    '更换 {name}？旧令牌还可使用一小时。',
  ],
  revoke: ['Revoke', '吊销'],
  revokeAsk: [
    'Revoke {name} and the tokens that it made? Programs that use them are refused at once.',
    '吊销 {name} 及其创建的令牌？使用它们的程序将立即被拒绝。',
  ],
  made: ['The token {name}', '令牌 {name}'],
});

/** The view. */
export function Tokens(): JSX.Element {
  const allOwners = person.value.codes.has('user:read');
  const found = usePages('tokens', (page, signal) =>
    tokens.listApiTokens({ page, allOwners }, { signal }),
  );
  const [made, setMade] = useState({ name: '', secret: '' });
  const show = (token: ApiToken | undefined, secret: string): void => {
    setMade({ name: token?.name ?? '', secret });
    found.reload();
  };
  const siteName = useSiteNames();
  return (
    <>
      {made.secret !== '' && (
        <ShownOnce
          key={made.secret}
          title={w('made', { name: made.name })}
          secret={made.secret}
          close={() => setMade({ name: '', secret: '' })}
        />
      )}
      <List
        of={found}
        label={w('tokens')}
        empty={w('none')}
        columns={[
          { title: w('name'), of: ({ name }) => name },
          { title: w('owner'), of: ({ ownerName }) => ownerName },
          { title: w('role'), of: ({ roleName }) => roleName },
          {
            title: w('scope'),
            of: ({ siteIds }) => siteIds.map(siteName).join(', ') || w('everywhere'),
          },
          { title: w('used'), by: ({ lastUsedAt }) => lastUsedAt, of: lastUse },
          { title: w('ends'), line: true, by: ({ expiresAt }) => expiresAt, of: endOf },
          { title: w('state'), by: ({ usable }) => Number(usable), of: stateOf },
          {
            title: '',
            of: (token) => <TokenActions token={token} show={show} changed={found.reload} />,
          },
        ]}
      />
      <Create show={show} />
    </>
  );
}

function lastUse({ lastUsedAt, lastUsedAddress }: ApiToken): string {
  if (lastUsedAt === undefined) return '';
  return w('usedBy', { at: localTime(lastUsedAt), address: lastUsedAddress });
}

function endOf({ expiresAt }: ApiToken): string {
  return expiresAt === undefined ? w('never') : localTime(expiresAt);
}

function stateOf({ usable, overlapEndsAt }: ApiToken): JSX.Element {
  return (
    <>
      <span class={usable ? 'good' : 'blocked'}>{w(usable ? 'usable' : 'unusable')}</span>
      {overlapEndsAt !== undefined && (
        <small> {w('overlap', { at: localTime(overlapEndsAt) })}</small>
      )}
    </>
  );
}

interface ActionsProps {
  readonly token: ApiToken;
  readonly show: (token: ApiToken | undefined, secret: string) => void;
  readonly changed: () => void;
}

function TokenActions({
  token: { id, name, ownerName },
  show,
  changed,
}: ActionsProps): JSX.Element {
  const own = ownerName === person.value.username;
  return (
    <span class="actions">
      {own && (
        <Act
          label={w('rotate')}
          ask={w('rotateAsk', { name })}
          codes={[]}
          run={async () => {
            const answer = await tokens.rotateApiToken({ id, overlapSeconds: hourSeconds });
            show(answer.token, answer.secret);
          }}
        />
      )}
      <Act
        label={w('revoke')}
        ask={w('revokeAsk', { name })}
        codes={own ? [] : ['user:write']}
        run={() => tokens.revokeApiToken({ id })}
        done={changed}
      />
    </span>
  );
}

function Create({ show }: { readonly show: ActionsProps['show'] }): JSX.Element {
  const known = useCall('token roles', (signal) =>
    allItems((page) => roles.listRoles({ page }, { signal })),
  );
  const create = async (values: Values): Promise<void> => {
    const { name = '', role = '', days = '', permissions, sites, manages } = values;
    const { token, secret } = await tokens.createApiToken({
      name,
      roleId: role,
      permissions: partsOf(permissions),
      siteIds: partsOf(sites),
      mayManageTokens: manages === 'on',
      ...(days === ''
        ? { noExpiry: true }
        : { expiresAt: timestampFromMs(Date.now() + Number(days) * dayMs) }),
    });
    show(token, secret);
  };
  return (
    <>
      <Failure of={known} />
      <FoldedEdit
        label={w('create')}
        codes={[]}
        submit={w('create')}
        fields={[
          { name: 'name', label: w('name'), required: true },
          {
            name: 'role',
            api: ['roleId'],
            label: w('role'),
            choices: (known.value ?? []).map(({ id, name }) => [id, name] as const),
          },
          { name: 'days', api: ['expiresAt'], label: w('days'), kind: 'number', value: '90' },
          {
            name: 'permissions',
            label: w('permissions'),
            kind: 'area',
            hint: w('permissionsHint'),
          },
          {
            name: 'sites',
            api: ['siteIds'],
            label: w('sites'),
            kind: 'area',
            hint: w('sitesHint'),
          },
          { name: 'manages', label: w('manages'), kind: 'check' },
        ]}
        done={t('once.made')}
        save={create}
      />
    </>
  );
}
