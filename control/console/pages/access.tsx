/** Access: users, roles, tokens, sessions, and the audit trail with its chain. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { AuditService, type AuditEntry } from '../../../proto/gen/waf/v1/audit_pb.ts';
import { RoleService } from '../../../proto/gen/waf/v1/role_pb.ts';
import { UserService, type User } from '../../../proto/gen/waf/v1/user_pb.ts';
import { never, useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { auditWord } from '../parts/audit-words.ts';
import { partsOf } from '../parts/edit.tsx';
import { allItems, CursorSteps, FoldedEdit, List, useCursor, usePages } from '../parts/list.tsx';
import { Card, Fold, Head, Tabs } from '../parts/panel.tsx';
import { Failure, State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { exactNumber, localTime, pageTexts, t } from '../text/text.ts';
import { Sessions } from './sessions.tsx';
import { Tokens } from './tokens.tsx';

const users = createClient(UserService, transport);
const roles = createClient(RoleService, transport);
const audit = createClient(AuditService, transport);
const auditPage = 50;
/** The permission that stands for all. */
const everything = 'waf:superadmin';
/** Permissions of a role that its row shows. */
const permissionsShown = 4;

const w = pageTexts({
  title: ['Access', '访问权限'],
  note: [
    'Who may sign in, what they may do, and what they did.',
    '谁可以登录、可以做什么，以及做过什么。',
  ],
  users: ['Users', '用户'],
  roles: ['Roles', '角色'],
  tokens: ['Tokens', '令牌'],
  sessions: ['Sessions', '会话'],
  audit: ['Audit trail', '审计记录'],
  name: ['Name', '名称'],
  mail: ['Mail', '邮箱'],
  state: ['State', '状态'],
  factor: ['Second factor', '双因素'],
  seen: ['Last sign-in', '最近登录'],
  locked: ['Locked', '已锁定'],
  active: ['Active', '正常'],
  yes: ['On', '已启用'],
  no: ['Off', '未启用'],
  lock: ['Lock', '锁定'],
  unlock: ['Unlock', '解锁'],
  resetFactor: ['Reset second factor', '重置双因素'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete it?', '确定删除？'],
  noUser: ['No user.', '没有用户。'],
  addUser: ['Add a user', '添加用户'],
  add: ['Add', '添加'],
  password: ['Password', '密码'],
  role: ['Role', '角色'],
  reset: ["Set a user's password", '设置用户密码'],
  permissionCount: ['{count} permissions', '{count} 项权限'],
  permissions: ['Permissions', '权限'],
  members: ['Users', '用户数'],
  everything: ['Everything', '全部权限'],
  builtin: ['built in', '内置'],
  noRole: ['No role.', '没有角色。'],
  addRole: ['Add a role', '添加角色'],
  codes: ['Permission codes, one a line', '权限代码，每行一个'],
  when: ['Time', '时间'],
  who: ['Who', '操作者'],
  action: ['Action', '操作'],
  what: ['What', '对象'],
  changed: ['Changed', '变更字段'],
  noEntry: ['No entry.', '没有记录。'],
  chain: ['Chain', '哈希链'],
  healthy: ['Whole: {rows} entries checked, {at}.', '完整：已校验 {rows} 条，{at}。'],
  broken: [
    'Broken at {count} places: entries were changed outside this service.',
    '有 {count} 处断裂：记录在本服务之外被更改。',
  ],
  verify: ['Check the chain now', '立即校验'],
});

/** The page. */
export function Access(): JSX.Element {
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <Tabs
        label={w('title')}
        tabs={[
          { name: 'users', codes: ['user:read'], title: w('users'), view: () => <Users /> },
          { name: 'roles', codes: ['role:read'], title: w('roles'), view: () => <Roles /> },
          { name: 'tokens', title: w('tokens'), view: () => <Tokens /> },
          { name: 'sessions', title: w('sessions'), view: () => <Sessions /> },
          { name: 'audit', codes: ['audit:read'], title: w('audit'), view: () => <Audit /> },
        ]}
      />
    </>
  );
}

function Users(): JSX.Element {
  const found = usePages('users', (page, signal) => users.listUsers({ page }, { signal }));
  const known = useCall('roles', (signal) =>
    allItems((page) => roles.listRoles({ page }, { signal })),
  );
  const choices = (known.value ?? []).map(({ id, name }) => [id, name] as const);
  const people = (found.value?.items ?? []).map(({ id, username }) => [id, username] as const);
  return (
    <>
      <List
        of={found}
        label={w('users')}
        empty={w('noUser')}
        columns={[
          { title: w('name'), of: ({ username }) => username },
          { title: w('mail'), of: ({ email }) => email },
          { title: w('roles'), of: (user) => user.roles.map(({ name }) => name).join(', ') },
          { title: w('factor'), of: ({ totpEnabled }) => w(totpEnabled ? 'yes' : 'no') },
          { title: w('state'), of: ({ locked }) => w(locked ? 'locked' : 'active') },
          { title: w('seen'), by: ({ lastLoginAt }) => lastLoginAt },
          { title: '', of: (user) => <UserActions user={user} changed={found.reload} /> },
        ]}
      />
      <Failure of={known} />
      <FoldedEdit
        label={w('addUser')}
        codes={['user:write']}
        submit={w('add')}
        fields={[
          { name: 'username', label: w('name'), required: true },
          { name: 'email', label: w('mail') },
          { name: 'password', label: w('password'), kind: 'password', required: true },
          { name: 'role', api: ['roleIds'], label: w('role'), choices },
        ]}
        save={async ({ username = '', email = '', password = '', role = '' }) => {
          const { user } = await users.createUser({ user: { username, email }, password });
          await users.assignRoles({ userId: user?.id ?? '', roleIds: [role] });
        }}
        saved={found.reload}
      />
      <FoldedEdit
        label={w('reset')}
        codes={['user:write']}
        submit={w('reset')}
        fields={[
          { name: 'user', label: w('name'), choices: people },
          { name: 'password', label: w('password'), kind: 'password', required: true },
        ]}
        save={({ user = '', password = '' }) => users.resetPassword({ userId: user, password })}
      />
    </>
  );
}

function UserActions({
  user,
  changed,
}: {
  readonly user: User;
  readonly changed: () => void;
}): JSX.Element {
  const { id: userId, locked, totpEnabled } = user;
  return (
    <span class="actions">
      <Act
        label={w(locked ? 'unlock' : 'lock')}
        codes={['user:write']}
        run={() => (locked ? users.unlockUser({ userId }) : users.lockUser({ userId }))}
        done={changed}
      />
      {totpEnabled && (
        <Act
          label={w('resetFactor')}
          ask={`${w('resetFactor')}?`}
          codes={['user:write']}
          run={() => users.resetUserMFA({ userId })}
          done={changed}
        />
      )}
      <Act
        label={w('remove')}
        ask={w('removeAsk')}
        codes={['user:delete']}
        run={() => users.deleteUser({ id: userId })}
        done={changed}
      />
    </span>
  );
}

function Roles(): JSX.Element {
  const found = usePages('roles', (page, signal) => roles.listRoles({ page }, { signal }));
  const known = useCall('permissions', (signal) => roles.listPermissions({}, { signal }), never);
  return (
    <>
      <List
        of={found}
        label={w('roles')}
        empty={w('noRole')}
        columns={[
          { title: w('name'), of: ({ name }) => name },
          {
            title: w('permissions'),
            of: ({ permissions }) => <Permissions codes={permissions} />,
          },
          {
            title: w('members'),
            number: true,
            by: ({ memberCount }) => memberCount,
          },
          {
            title: '',
            of: ({ id, builtin }) =>
              builtin ? (
                <span class="badge">{w('builtin')}</span>
              ) : (
                <Act
                  label={w('remove')}
                  ask={w('removeAsk')}
                  codes={['role:delete']}
                  run={() => roles.deleteRole({ id })}
                  done={found.reload}
                />
              ),
          },
        ]}
      />
      <AddRole changed={found.reload} />
      <Fold title={w('permissions')}>
        <State of={known}>
          {({ permissions }) => (
            <Table
              label={w('permissions')}
              items={permissions}
              empty={t('common.none')}
              columns={[
                { title: w('name'), by: ({ code }) => code, of: ({ code }) => <code>{code}</code> },
                { title: w('what'), of: ({ description }) => said(description) },
              ]}
            />
          )}
        </State>
      </Fold>
    </>
  );
}

/** The permissions of a role: many of them open with a click. */
function Permissions({ codes }: { readonly codes: readonly string[] }): JSX.Element {
  if (codes.includes(everything)) return <span title={everything}>{w('everything')}</span>;
  if (codes.length <= permissionsShown) return <code>{codes.join(', ')}</code>;
  return (
    <details class="inline">
      <summary>{w('permissionCount', { count: exactNumber(codes.length) })}</summary>
      <code>{codes.join(', ')}</code>
    </details>
  );
}

function AddRole({ changed }: { readonly changed: () => void }): JSX.Element {
  return (
    <FoldedEdit
      label={w('addRole')}
      codes={['role:write']}
      submit={w('add')}
      fields={[
        { name: 'name', label: w('name'), required: true },
        { name: 'codes', api: ['permissions'], label: w('codes'), kind: 'area', required: true },
      ]}
      save={({ name = '', codes }) =>
        roles.createRole({ role: { name, permissions: partsOf(codes) } })
      }
      saved={changed}
    />
  );
}

/** Every change has a new revision and a new time. */
const isOfPeople = (path: string): boolean => path !== 'revision' && path !== 'updatedAt';

/** Who did it: what the service did by itself has no name. */
const actorOf = ({ actorName, actorId }: AuditEntry): string =>
  actorId === 'system' ? auditWord(actorId) : actorName || actorId;

function Audit(): JSX.Element {
  const [cursor, setCursor] = useCursor('audit');
  const found = useCall(`audit ${cursor}`, (signal) =>
    audit.queryAudit({ page: { pageSize: auditPage, cursor } }, { signal }),
  );
  const chain = useCall('chain', (signal) => audit.getChainStatus({}, { signal }));
  return (
    <>
      <Card title={w('chain')}>
        <State of={chain}>
          {({ healthy, breaks, checkedRows, latestVerifiedAt }) => (
            <p class={healthy ? 'good' : 'blocked'}>
              {healthy
                ? w('healthy', { rows: exactNumber(checkedRows), at: localTime(latestVerifiedAt) })
                : w('broken', { count: breaks.length })}
            </p>
          )}
        </State>
        <Act
          label={w('verify')}
          codes={['audit:verify']}
          run={() => audit.verifyChain({})}
          done={chain.reload}
        />
      </Card>
      <State of={found}>
        {({ items, page: next }) => (
          <>
            <Table<AuditEntry>
              label={w('audit')}
              items={items}
              empty={w('noEntry')}
              sortable={false}
              columns={[
                { title: w('when'), by: ({ createdAt }) => createdAt },
                { title: w('who'), of: actorOf },
                { title: w('action'), of: ({ action }) => auditWord(action) },
                {
                  title: w('what'),
                  of: ({ resourceType, resourceName, resourceId }) =>
                    `${auditWord(resourceType)} ${resourceName || resourceId}`,
                },
                {
                  title: w('changed'),
                  of: ({ diff }) => (diff?.changedPaths ?? []).filter(isOfPeople).join(', '),
                },
              ]}
            />
            <CursorSteps cursor={cursor} page={next} go={setCursor} />
          </>
        )}
      </State>
    </>
  );
}
