/** The question whose address would count for a request, of one site or of the deployment. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { TrustService, type ExplainTrustResponse } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { Edit } from '../parts/edit.tsx';
import { Card } from '../parts/panel.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const trust = createClient(TrustService, transport);

const w = pageTexts({
  peer: ['Address that connects', '连接地址'],
  header: ['X-Forwarded-For', 'X-Forwarded-For'],
  explain: ['Whose address would count?', '将以谁的地址为准？'],
  explained: ['{ip} counts as the client.', '客户端地址为 {ip}。'],
  spoofed: [
    'The header is not believed: the peer is no trusted proxy.',
    '不信任该请求头：对端不是受信代理。',
  ],
});

/** The form with its answer; `siteId` is '' for the deployment. */
export function ExplainTrust({ siteId }: { readonly siteId: string }): JSX.Element {
  const [found, setFound] = useState<ExplainTrustResponse | null>(null);
  return (
    <Card title={w('explain')}>
      <Edit
        label={w('explain')}
        codes={['system:read']}
        submit={w('explain')}
        done=""
        keep
        fields={[
          { name: 'peer', label: w('peer'), required: true },
          { name: 'header', label: w('header') },
        ]}
        save={async ({ peer = '', header = '' }) => {
          const headers: Record<string, string> =
            header === '' ? {} : { 'x-forwarded-for': header };
          setFound(await trust.explainTrust({ siteId, peer, headers }));
        }}
      />
      <div aria-live="polite">
        {found !== null && (
          <>
            <p>{w('explained', { ip: found.ip })}</p>
            {found.spoofed && <p class="notice">{w('spoofed')}</p>}
          </>
        )}
      </div>
    </Card>
  );
}
