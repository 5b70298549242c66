/** What a new site's origin showed itself to be, and the way to let its editors work. */

import { createClient } from '@connectrpc/connect';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RecognizedApplication } from '../../../proto/gen/waf/v1/site_pb.ts';
import { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { Act } from '../parts/act.tsx';
import { Link } from '../parts/link.tsx';
import { Card } from '../parts/panel.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const system = createClient(SystemService, transport);
/** Names of applications by site. */
const setting = 'detection.applications';

const w = pageTexts({
  title: ['This looks like {name}', '该站点看起来是 {name}'],
  profile: [
    'Its editors send HTML and code. Its profile keeps the score from counting that, in the fields where it belongs.',
    '其编辑器会发送 HTML 和代码。启用对应的应用配置后，这些字段中的此类内容不再计分。',
  ],
  use: ['Use the profile of {name}', '启用 {name} 应用配置'],
  used: ['The profile of {name} is in use.', '已启用 {name} 应用配置。'],
  plugin: [
    'Its editors send HTML and code. The exclusion plugin {plugin} keeps rules quiet there; it is added on the page of the policy.',
    '其编辑器会发送 HTML 和代码。排除插件 {plugin} 可避免误报，请在策略页面添加。',
  ],
  nothing: [
    'Requests of its editors may be blocked: allow them from the event.',
    '其编辑器的请求可能被拦截：可在事件页面放行。',
  ],
  policies: ['Open the policies', '打开策略'],
});

/** The card. */
export function KnownApplication({
  siteId,
  found: { name, profile, plugin },
}: {
  readonly siteId: string;
  readonly found: RecognizedApplication;
}): JSX.Element {
  const [used, setUsed] = useState(false);
  if (profile === '') {
    return (
      <Card
        title={w('title', { name })}
        note={plugin === '' ? w('nothing') : w('plugin', { plugin })}
      >
        <p>
          <Link href="/policies">{w('policies')}</Link>
        </p>
      </Card>
    );
  }
  return (
    <Card title={w('title', { name })} note={w('profile')}>
      <div aria-live="polite">
        {used ? (
          <p class="done">{w('used', { name })}</p>
        ) : (
          <Act
            label={w('use', { name })}
            codes={['system:read', 'system:write']}
            run={() => useProfile(siteId, profile)}
            done={() => setUsed(true)}
          />
        )}
      </div>
    </Card>
  );
}

/** Sets the profile of a site; those of others stay. Errors: of the calls. */
async function useProfile(siteId: string, profile: string): Promise<void> {
  const { settings } = await system.getSystemSettings({});
  const present = settings?.values?.[setting];
  const others = typeof present === 'object' && present !== null ? present : {};
  await system.updateSystemSettings({
    values: { [setting]: { ...others, [siteId]: profile } },
    expectedUpdatedAt: settings?.updatedAt ?? timestampFromMs(0),
  });
}
