/** The switch that has a site challenge every client, and what the page says while it is on. */

import { createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  BotProtectionConfigSchema,
  SiteService,
  type Site,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { Act } from '../parts/act.tsx';
import { isUnderAttack } from '../parts/under-attack.ts';
import { when } from '../parts/when.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import type { ShownSite } from './site-form.tsx';

const sites = createClient(SiteService, transport);

const w = pageTexts({
  start: ['Under attack', '遭受攻击'],
  lasts: ['How long', '持续时间'],
  open: ['Until switched off', '直到关闭'],
  hour: ['1 hour', '1 小时'],
  hours: ['6 hours', '6 小时'],
  day: ['1 day', '1 天'],
  note: [
    'One press has every client challenged on every path; programs get 403 then. Exempt paths, ' +
      'methods and trusted addresses still pass. No other setting changes.',
    '按下后，所有路径上的每个客户端都须通过验证，程序将收到 403。无需验证的路径、方法和地址仍可通过。其他设置不变。',
  ],
  on: ['Under attack: every client gets a challenge.', '遭受攻击：每个客户端都须通过验证。'],
  until: ['Until', '截至'],
  off: ['It ends when it is switched off.', '关闭后结束。'],
  end: ['End it', '结束'],
});

const hourMs = 3_600_000;
/** Choices of how long it lasts; 0 for no end. */
const spans = [
  [0, 'open'],
  [hourMs, 'hour'],
  [6 * hourMs, 'hours'],
  [24 * hourMs, 'day'],
] as const;

/** The switch; a banner while it is on. */
export function SiteAttack({ of: { site, changed } }: { readonly of: ShownSite }): JSX.Element {
  const [lastsMs, setLastsMs] = useState(0);
  const on = isUnderAttack(site);
  return (
    <section class={on ? 'conflict wide' : 'card wide'}>
      <div role="status">{on ? <Attacked site={site} /> : <p class="quiet">{w('note')}</p>}</div>
      <p class="actions">
        <Act
          label={w(on ? 'end' : 'start')}
          codes={['site:write']}
          run={() => setAttack(site, !on, lastsMs)}
          done={changed}
        />
        {!on && (
          <label>
            {w('lasts')}{' '}
            <select
              value={lastsMs}
              onChange={({ currentTarget }) => setLastsMs(Number(currentTarget.value))}
            >
              {spans.map(([ms, name]) => (
                <option value={ms}>{w(name)}</option>
              ))}
            </select>
          </label>
        )}
      </p>
    </section>
  );
}

function Attacked({ site }: { readonly site: Site }): JSX.Element {
  const end = site.botProtection?.underAttackUntil;
  return (
    <p>
      <strong>{w('on')}</strong>{' '}
      {end === undefined ? (
        w('off')
      ) : (
        <>
          {w('until')} {when(end)}
        </>
      )}
    </p>
  );
}

/** Sets it on or off, on with an end unless `lastsMs` is 0; nothing else of the site changes. */
async function setAttack({ id }: Site, underAttack: boolean, lastsMs: number): Promise<void> {
  const { site } = await sites.getSite({ id });
  const botProtection = create(BotProtectionConfigSchema, {
    underAttack,
    ...(underAttack && lastsMs > 0 && { underAttackUntil: timestampFromMs(Date.now() + lastsMs) }),
  });
  await sites.updateSite({
    site: { id, botProtection },
    revision: site?.revision ?? 0n,
    updateMask: 'botProtection.underAttack,botProtection.underAttackUntil',
  });
}
