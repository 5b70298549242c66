/** The signed-in person: the password, the second factor, passkeys. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BeginTOTPEnrollmentResponse } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, type Field, type Values } from '../parts/edit.tsx';
import { Card, Head } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { auth, person } from '../session.ts';
import { localTime, pageTexts } from '../text/text.ts';
import { Passkeys } from './passkeys.tsx';

const w = pageTexts({
  title: ['Your account', '我的账户'],
  note: ['Signed in as {name}.', '当前登录：{name}。'],
  password: ['Password', '密码'],
  current: ['Current password', '当前密码'],
  next: ['New password', '新密码'],
  change: ['Change password', '修改密码'],
  factor: ['Second factor', '双因素验证'],
  off: [
    'An authenticator app is not set up: a password alone opens this account.',
    '尚未设置验证器应用：仅凭密码即可登录。',
  ],
  on: [
    'An authenticator app is set up since {since}; {left} recovery codes are left.',
    '自 {since} 起已启用验证器应用；剩余 {left} 个恢复代码。',
  ],
  begin: ['Set up an authenticator app', '设置验证器应用'],
  secret: [
    'Enter this key in the app, then the code that it shows.',
    '在应用中输入此密钥，然后填写显示的验证码。',
  ],
  code: ['Code', '验证码'],
  confirm: ['Confirm', '确认'],
  remove: ['Remove the second factor', '移除双因素验证'],
  renew: ['New recovery codes', '重新生成恢复代码'],
  codes: [
    'Recovery codes: each works once. They are not shown again.',
    '恢复代码：每个只能使用一次，不会再次显示。',
  ],
});

/** The page. */
export function Account(): JSX.Element {
  return (
    <>
      <Head title={w('title')} note={w('note', { name: person.value.name })} />
      <Card title={w('password')}>
        <Edit
          label={w('password')}
          codes={[]}
          submit={w('change')}
          save={({ current = '', next = '' }: Values) =>
            auth.changePassword({ currentPassword: current, newPassword: next })
          }
          fields={[
            {
              name: 'current',
              api: ['currentPassword'],
              label: w('current'),
              kind: 'password',
              required: true,
            },
            {
              name: 'next',
              api: ['newPassword'],
              label: w('next'),
              kind: 'password',
              required: true,
            },
          ]}
        />
      </Card>
      <SecondFactor />
      <Passkeys />
    </>
  );
}

function SecondFactor(): JSX.Element {
  const status = useCall('mfa', (signal) => auth.getMFAStatus({}, { signal }));
  const [begun, setBegun] = useState<BeginTOTPEnrollmentResponse | null>(null);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const confirm = async ({ code = '' }: Values): Promise<void> => {
    const enrollmentToken = begun?.enrollmentToken ?? '';
    const answer = await auth.confirmTOTPEnrollment({ enrollmentToken, code });
    setCodes(answer.recoveryCodes);
    setBegun(null);
    status.reload();
  };
  return (
    <Card title={w('factor')}>
      <State of={status}>
        {({ totpEnabled, enabledAt, recoveryCodesLeft }) =>
          totpEnabled ? (
            <>
              <p>{w('on', { since: localTime(enabledAt), left: recoveryCodesLeft })}</p>
              <Renew setCodes={setCodes} changed={status.reload} />
            </>
          ) : (
            <>
              <p>{w('off')}</p>
              {begun === null ? (
                <Act
                  label={w('begin')}
                  codes={[]}
                  run={async () => setBegun(await auth.beginTOTPEnrollment({}))}
                />
              ) : (
                <>
                  <p>{w('secret')}</p>
                  <pre class="code">{begun.secret}</pre>
                  <Edit
                    label={w('confirm')}
                    codes={[]}
                    fields={codeField()}
                    submit={w('confirm')}
                    save={confirm}
                  />
                </>
              )}
            </>
          )
        }
      </State>
      {codes.length > 0 && (
        <>
          <p>{w('codes')}</p>
          <pre class="code">{codes.join('\n')}</pre>
        </>
      )}
    </Card>
  );
}

function Renew({
  setCodes,
  changed,
}: {
  readonly setCodes: (codes: readonly string[]) => void;
  readonly changed: () => void;
}): JSX.Element {
  return (
    <>
      <Edit
        label={w('renew')}
        codes={[]}
        fields={codeField()}
        submit={w('renew')}
        save={async ({ code = '' }) =>
          setCodes((await auth.regenerateRecoveryCodes({ code })).recoveryCodes)
        }
      />
      <Edit
        label={w('remove')}
        codes={[]}
        fields={codeField()}
        submit={w('remove')}
        save={({ code = '' }) => auth.disableTOTP({ code })}
        saved={changed}
      />
    </>
  );
}

function codeField(): Field[] {
  return [{ name: 'code', label: w('code'), required: true }];
}
