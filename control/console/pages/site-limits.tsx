/** Rate limits of one site: those of its own, and a new one. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { useCall } from '../call.ts';
import { allItems } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { RateLimits } from './rate-limits.tsx';
import type { ShownSite } from './site-form.tsx';

const policies = createClient(PolicyService, transport);

const w = pageTexts({
  title: ['Rate limits of this site', '此站点的频率限制'],
  note: [
    'Limits of the policy hold as well: Protection has them.',
    '策略的限制同样生效：见“防护”页面。',
  ],
});

/** The view. */
export function SiteLimits({ of }: { readonly of: ShownSite }): JSX.Element {
  const found = useCall('policies', (signal) =>
    allItems((page) => policies.listPolicies({ page }, { signal })),
  );
  return (
    <State of={found}>
      {(items) => (
        <Card title={w('title')} note={w('note')}>
          <RateLimits
            policyId={of.site.waf?.policyId || (items.find((one) => one.isDefault)?.id ?? '')}
            siteId={of.site.id}
          />
        </Card>
      )}
    </State>
  );
}
