/** The end of the first run: an attack that is tried, and the blocked request as it happens. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SecurityEventOutcome } from '../../../proto/gen/waf/v1/log_pb.ts';
import { PolicyService, type TestPolicyResponse } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { Act } from '../parts/act.tsx';
import { Link } from '../parts/link.tsx';
import { allItems } from '../parts/list.tsx';
import { LiveEvents } from '../parts/live-events.tsx';
import { Card } from '../parts/panel.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const policies = createClient(PolicyService, transport);
const attack = '/?id=1%27%20OR%20%271%27=%271';

const w = pageTexts({
  title: ['{host} is served', '{host} 已开始服务'],
  try: ['Try an attack', '试发攻击'],
  tryNote: [
    'Asks the engine what it does with an attack on this site; nothing is sent to your origin.',
    '询问引擎如何处理对该站点的攻击，不会向源站发送任何内容。',
  ],
  blocked: [
    'It is blocked with status {status} by the rules {rules}.',
    '被拦截，状态码 {status}，规则 {rules}。',
  ],
  passed: ['It passes: the policy of this site does not block it.', '已放行：该站点的策略未拦截。'],
  live: ['Send one yourself', '亲自发送一次'],
  liveNote: [
    "Run this line; where the name does not lead here yet, send it to the proxy's address with the field Host. The blocked request appears below.",
    '运行下面的命令（若域名尚未指向此处，请带上 Host 字段发送到代理地址），被拦截的请求会自动出现在下方。',
  ],
  on: ['Go to the overview', '前往概览'],
});

/** The step. */
export function FirstAttack({ site }: { readonly site: Site }): JSX.Element {
  const [found, setFound] = useState<TestPolicyResponse | null>(null);
  const host = site.primaryHost;
  const run = async (): Promise<void> => {
    const items = await allItems((page) => policies.listPolicies({ page }));
    const policyId = site.waf?.policyId || items.find(({ isDefault }) => isDefault)?.id;
    setFound(
      await policies.testPolicy({
        policyId: policyId ?? '',
        siteId: site.id,
        method: 'GET',
        url: `http://${host}${attack}`,
        headers: { host, 'user-agent': 'waf console' },
      }),
    );
  };
  return (
    <>
      <Card title={w('title', { host })} note={w('tryNote')}>
        <Act label={w('try')} codes={['policy:test']} run={run} primary />
        <div aria-live="polite">
          {found !== null && (
            <p class={found.blocked ? 'done' : 'notice'}>
              {found.blocked
                ? w('blocked', { status: found.status, rules: found.matchedRuleIds.join(', ') })
                : w('passed')}
            </p>
          )}
        </div>
      </Card>
      <Card title={w('live')} note={w('liveNote')}>
        <pre class="code">
          <VisibleText text={`curl -i 'http://${host}${attack}'`} />
        </pre>
        <LiveEvents query={{ siteId: site.id, outcome: SecurityEventOutcome.ANY }} />
      </Card>
      <p>
        <Link href="/">{w('on')}</Link>
      </p>
    </>
  );
}
