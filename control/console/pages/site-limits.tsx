/** Rate limits of one site: those of its own, and a new one. */

import type { JSX } from 'preact';
import { Card } from '../parts/panel.tsx';
import { pageTexts } from '../text/text.ts';
import { RateLimits } from './rate-limits.tsx';
import type { ShownSite } from './site-form.tsx';

const w = pageTexts({
  title: ['Rate limits of this site', '此站点的频率限制'],
  note: [
    'Limits of the policy hold as well: Protection has them.',
    '策略的限制同样生效：见“防护”页面。',
  ],
});

/** The view. */
export function SiteLimits({ of }: { readonly of: ShownSite }): JSX.Element {
  return (
    <Card title={w('title')} note={w('note')}>
      <RateLimits policyId="" siteId={of.site.id} />
    </Card>
  );
}
