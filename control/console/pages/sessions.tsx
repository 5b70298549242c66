/** Who is signed in, from where, and the button that ends a session. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { SessionService } from '../../../proto/gen/waf/access/v1/session_pb.ts';
import { Act } from '../parts/act.tsx';
import { List, usePages } from '../parts/list.tsx';
import { person, transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const sessions = createClient(SessionService, transport);

const w = pageTexts({
  sessions: ['Sessions', '会话'],
  none: ['No session.', '没有会话。'],
  who: ['User', '用户'],
  address: ['Address', '地址'],
  method: ['Signed in by', '登录方式'],
  since: ['Since', '开始于'],
  seen: ['Last used', '最近使用'],
  ends: ['Ends', '到期'],
  current: ['this one', '当前会话'],
  end: ['End', '结束'],
  endAsk: [
    'End this session? Whoever uses it has to sign in again.',
    '结束此会话？使用者需要重新登录。',
  ],
});

const methods = pageTexts({
  password: ['Password', '密码'],
  challenge: ['Password and a second step', '密码和第二步验证'],
  passkey: ['Passkey', '通行密钥'],
});

/** What a person calls a way to sign in; identity providers have names of their own. */
function methodText(method: string): string {
  return method === 'password' || method === 'challenge' || method === 'passkey'
    ? methods(method)
    : method;
}

/** The view. */
export function Sessions(): JSX.Element {
  const allUsers = person.value.codes.has('user:read');
  const found = usePages('sessions', (page, signal) =>
    sessions.listSessions({ page, allUsers }, { signal }),
  );
  return (
    <List
      of={found}
      label={w('sessions')}
      empty={w('none')}
      columns={[
        { title: w('who'), of: ({ username }) => username },
        { title: w('address'), of: ({ address }) => address },
        { title: w('method'), of: ({ method }) => methodText(method) },
        { title: w('since'), line: true, by: ({ createdAt }) => createdAt },
        { title: w('seen'), line: true, by: ({ refreshedAt }) => refreshedAt },
        { title: w('ends'), line: true, by: ({ expiresAt }) => expiresAt },
        {
          title: '',
          of: ({ id, current, username }) =>
            current ? (
              <span class="badge">{w('current')}</span>
            ) : (
              <Act
                label={w('end')}
                ask={w('endAsk')}
                codes={username === person.value.username ? [] : ['user:write']}
                run={() => sessions.endSession({ id })}
                done={found.reload}
              />
            ),
        },
      ]}
    />
  );
}
