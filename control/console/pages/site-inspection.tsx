/** How requests of a site are inspected: its policy, what it changes there, limits of bodies. */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { PolicyService, type Policy } from '../../../proto/gen/waf/v1/policy_pb.ts';
import {
  SiteService,
  WafConfigSchema,
  WafMode,
  type Site,
  type SitePolicyOverride,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, heldBy, useBase, type Field, type Values } from '../parts/edit.tsx';
import { Link } from '../parts/link.tsx';
import { allItems } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { BodyLimits } from './body-limits.tsx';
import { askBeforeLosing } from './site-losses.ts';
import { SiteEdit, type ShownSite } from './site-form.tsx';

const sites = createClient(SiteService, transport);
const policies = createClient(PolicyService, transport);

const w = pageTexts({
  title: ['Inspection', '检测'],
  mode: ['Attacks are', '对攻击'],
  blocking: ['Blocked', '拦截'],
  detection: ['Only recorded', '仅记录'],
  off: ['Not looked for', '不检测'],
  policy: ['Policy', '策略'],
  byDefault: ['The default policy', '默认策略'],
  open: ['Open the policy', '打开策略'],
  own: ['What this site changes in its policy', '此站点对策略的更改'],
  ownNote: ['An empty field is as the policy has it.', '留空表示与策略相同。'],
  blockingParanoiaLevel: ['Paranoia level that blocks', '拦截的偏执级别'],
  detectionParanoiaLevel: ['Paranoia level that records', '记录的偏执级别'],
  inboundAnomalyScoreThreshold: ['Blocks requests from score', '请求拦截分数'],
  outboundAnomalyScoreThreshold: ['Blocks responses from score', '响应拦截分数'],
  samplingPercentage: ['Requests that are inspected, in percent', '检测请求的百分比'],
  why: ['Why', '原因'],
  save: ['Save', '保存'],
  reset: ['Use the policy as it is', '按策略原样使用'],
});

/** The view. */
export function SiteInspection({ of }: { readonly of: ShownSite }): JSX.Element {
  const found = useCall('policies', (signal) =>
    allItems((page) => policies.listPolicies({ page }, { signal })),
  );
  return (
    <State of={found}>
      {(items) => {
        const policyId = policyOf(of.site, items);
        return (
          <>
            <Mode of={of} known={items} />
            <OwnNumbers siteId={of.site.id} />
            {policyId !== '' && <BodyLimits key={policyId} policyId={policyId} />}
          </>
        );
      }}
    </State>
  );
}

/** The policy of a site: its own, else the default one. */
function policyOf({ waf }: Site, known: readonly Policy[]): string {
  return waf?.policyId || (known.find(({ isDefault }) => isDefault)?.id ?? '');
}

function Mode({
  of,
  known,
}: {
  readonly of: ShownSite;
  readonly known: readonly Policy[];
}): JSX.Element {
  const policyId = policyOf(of.site, known);
  return (
    <Card title={w('title')}>
      <SiteEdit
        of={of}
        label={w('title')}
        mask={['waf.enabled', 'waf.mode', 'waf.policyId']}
        fields={({ waf }) => [
          {
            name: 'mode',
            label: w('mode'),
            value: waf?.enabled === true ? String(waf.mode || WafMode.BLOCKING) : '',
            choices: [
              [String(WafMode.BLOCKING), w('blocking')],
              [String(WafMode.DETECTION), w('detection')],
              ['', w('off')],
            ],
          },
          {
            name: 'policy',
            api: ['policyId'],
            label: w('policy'),
            value: waf?.policyId ?? '',
            choices: [['', w('byDefault')], ...known.map(({ id, name }) => [id, name] as const)],
          },
        ]}
        ask={async (site, { policy = '' }) => {
          const present = policyOf(site, known);
          const next = policy || policyOf({ ...site, waf: create(WafConfigSchema) }, known);
          return present === '' || present === next ? '' : askBeforeLosing(site.id, present);
        }}
        apply={(site, { mode = '', policy = '' }) => ({
          ...site,
          waf: {
            ...(site.waf ?? create(WafConfigSchema)),
            enabled: mode !== '',
            mode: mode === '' ? (site.waf?.mode ?? WafMode.BLOCKING) : (Number(mode) as WafMode),
            policyId: policy,
          },
        })}
      />
      {policyId !== '' && (
        <p>
          <Link href={`/policies/${policyId}`}>{w('open')}</Link>
        </p>
      )}
    </Card>
  );
}

const numberNames = [
  'blockingParanoiaLevel',
  'detectionParanoiaLevel',
  'inboundAnomalyScoreThreshold',
  'outboundAnomalyScoreThreshold',
  'samplingPercentage',
] as const;

function OwnNumbers({ siteId }: { readonly siteId: string }): JSX.Element {
  const found = useCall(siteId, () => overrideOf(siteId));
  return (
    <Card title={w('own')} note={w('ownNote')}>
      <State of={found}>
        {({ override }) => (
          <>
            <OwnForm siteId={siteId} first={override} changed={found.reload} />
            {override !== undefined && (
              <Act
                label={w('reset')}
                codes={['site:write']}
                run={() => sites.deleteSitePolicyOverride({ siteId })}
                done={found.reload}
              />
            )}
          </>
        )}
      </State>
    </Card>
  );
}

/** What the site changes; nothing where the service knows of none. */
async function overrideOf(siteId: string): Promise<{ override?: SitePolicyOverride }> {
  try {
    const { override } = await sites.getSitePolicyOverride({ siteId });
    return override === undefined ? {} : { override };
  } catch (thrown) {
    if (ConnectError.from(thrown).code === Code.NotFound) return {};
    throw thrown;
  }
}

function OwnForm({
  siteId,
  first,
  changed,
}: {
  readonly siteId: string;
  readonly first: SitePolicyOverride | undefined;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const save = async (values: Values): Promise<void> => {
    const given = numberNames.filter((name) => (values[name] ?? '') !== '');
    const numbers = Object.fromEntries(given.map((name) => [name, Number(values[name])]));
    const { override } = await sites.upsertSitePolicyOverride({
      override: { siteId, ...numbers, rationale: values['why'] ?? '' },
      expectedUpdatedAt: base.current?.updatedAt ?? timestampFromMs(0),
    });
    base.current = override;
  };
  return (
    <Edit
      label={w('own')}
      codes={['site:write']}
      submit={w('save')}
      base={base}
      fields={ownFields(first)}
      save={save}
      saved={changed}
      latest={async () => {
        base.current = (await overrideOf(siteId)).override;
        return heldBy(ownFields(base.current));
      }}
    />
  );
}

function ownFields(held: SitePolicyOverride | undefined): Field[] {
  const numbers = numberNames.map((name) => {
    const value = held?.[name];
    const text = value === undefined ? '' : String(value);
    return { name, label: w(name), kind: 'number', value: text } as const;
  });
  return [
    ...numbers,
    { name: 'why', api: ['rationale'], label: w('why'), value: held?.rationale ?? '' },
  ];
}
