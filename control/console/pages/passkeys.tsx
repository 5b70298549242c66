/** The passkeys of the signed-in person: what there is, one more, another name, removal. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { PasskeyService, type Passkey } from '../../../proto/gen/waf/access/v1/passkey_pb.ts';
import { useCall } from '../call.ts';
import { hasPasskeys, makePasskey } from '../passkeys.ts';
import { Act } from '../parts/act.tsx';
import { Edit, type Field, type Values } from '../parts/edit.tsx';
import { FoldedEdit } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const passkeys = createClient(PasskeyService, transport);

const w = pageTexts({
  title: ['Passkeys', '通行密钥'],
  note: [
    'A passkey signs in without password and code: the device asks for your finger, face or PIN.',
    '使用通行密钥登录无需密码和验证码：设备会要求指纹、面容或 PIN。',
  ],
  none: ['No passkey.', '没有通行密钥。'],
  lacking: [
    'This browser has no passkeys here: they need HTTPS and a host name.',
    '此浏览器在此处无法使用通行密钥：需要 HTTPS 和主机名。',
  ],
  name: ['Name', '名称'],
  host: ['For', '适用于'],
  since: ['Since', '添加时间'],
  used: ['Last used', '最近使用'],
  synced: ['Copies', '副本'],
  copied: ['on further devices', '在其他设备上'],
  alone: ['on this device only', '仅在此设备上'],
  add: ['Add a passkey', '添加通行密钥'],
  password: ['Current password', '当前密码'],
  second: ['Passkey after the password', '密码后再用通行密钥'],
  secondOn: [
    'After the password a passkey is asked for, or a code where an authenticator app is on.',
    '输入密码后还需要通行密钥；启用了验证器应用时也可使用验证码。',
  ],
  secondOff: [
    'The password alone signs in, where no authenticator app is on.',
    '未启用验证器应用时，仅凭密码即可登录。',
  ],
  secondAsk: ['Ask for a passkey after the password', '密码后要求通行密钥'],
  secondStop: ['Ask for none any more', '不再要求'],
  rename: ['Rename', '重命名'],
  remove: ['Remove', '移除'],
  removeAsk: [
    'Remove the passkey {name}? It signs nobody in any more.',
    '移除通行密钥 {name}？它将无法再用于登录。',
  ],
});

/** The card. */
export function Passkeys(): JSX.Element {
  const found = useCall('passkeys', (signal) => passkeys.listPasskeys({}, { signal }));
  const add = async ({ name = '', password = '' }: Values): Promise<void> => {
    const begun = await passkeys.beginPasskeyRegistration({ currentPassword: password });
    const { registrationToken, optionsJson } = begun;
    const credentialJson = await makePasskey(optionsJson);
    await passkeys.finishPasskeyRegistration({ registrationToken, credentialJson, name });
  };
  return (
    <Card title={w('title')}>
      <p>{w('note')}</p>
      <State of={found}>
        {({ items, secondFactor }) => (
          <>
            <Table
              items={items}
              label={w('title')}
              empty={w('none')}
              columns={[
                { title: w('name'), of: ({ name }) => name },
                { title: w('host'), of: ({ host }) => host },
                { title: w('synced'), of: ({ synced }) => w(synced ? 'copied' : 'alone') },
                { title: w('since'), line: true, by: ({ createdAt }) => createdAt },
                { title: w('used'), line: true, by: ({ lastUsedAt }) => lastUsedAt },
                { title: '', of: (one) => <Actions passkey={one} changed={found.reload} /> },
              ]}
            />
            {items.length > 0 && <SecondFactor on={secondFactor} changed={found.reload} />}
          </>
        )}
      </State>
      {hasPasskeys ? (
        <Edit
          label={w('add')}
          codes={[]}
          submit={w('add')}
          fields={[{ name: 'name', label: w('name'), required: true }, passwordField()]}
          save={add}
          saved={found.reload}
        />
      ) : (
        <p class="quiet">{w('lacking')}</p>
      )}
    </Card>
  );
}

const passwordField = (): Field => ({
  name: 'password',
  api: ['currentPassword'],
  label: w('password'),
  kind: 'password',
  required: true,
});

function SecondFactor({
  on,
  changed,
}: {
  readonly on: boolean;
  readonly changed: () => void;
}): JSX.Element {
  const label = w(on ? 'secondStop' : 'secondAsk');
  return (
    <>
      <h3>{w('second')}</h3>
      <p>{w(on ? 'secondOn' : 'secondOff')}</p>
      <FoldedEdit
        label={label}
        codes={[]}
        submit={label}
        fields={[passwordField()]}
        save={({ password = '' }: Values) =>
          passkeys.setPasskeySecondFactor({ enabled: !on, currentPassword: password })
        }
        saved={changed}
      />
    </>
  );
}

function Actions({
  passkey: { id, name },
  changed,
}: {
  readonly passkey: Passkey;
  readonly changed: () => void;
}): JSX.Element {
  return (
    <span class="actions">
      <FoldedEdit
        inside
        label={w('rename')}
        codes={[]}
        submit={w('rename')}
        fields={[{ name: 'name', label: w('name'), value: name, required: true }]}
        save={(values: Values) => passkeys.renamePasskey({ id, name: values['name'] ?? '' })}
        saved={changed}
      />
      <Act
        label={w('remove')}
        ask={w('removeAsk', { name })}
        codes={[]}
        run={() => passkeys.removePasskey({ id })}
        done={changed}
      />
    </span>
  );
}
