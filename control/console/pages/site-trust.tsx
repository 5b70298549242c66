/** Whose address counts at a site: the proxies before it, in order, and the header they write. */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { IpListService, type IpList } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import {
  TrustProfileSchema,
  TrustService,
  type TrustProfile,
} from '../../../proto/gen/waf/v1/trust_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, heldBy, useBase, type Field, type Values } from '../parts/edit.tsx';
import { allItems } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { ExplainTrust } from './explain-trust.tsx';
import { TrustDrawing } from './trust-drawing.tsx';

const trust = createClient(TrustService, transport);
const lists = createClient(IpListService, transport);
/** Proxies in a row that the form has fields for. */
const proxiesMax = 3;
/** Names as profiles keep them, in lower case. */
const headers = [
  ...['x-forwarded-for', 'forwarded', 'x-real-ip'],
  ...['cf-connecting-ip', 'true-client-ip'],
];

const w = pageTexts({
  title: ['Proxies before this site', '此站点前的代理'],
  whole: [
    'This site has no profile of its own: that of the deployment holds.',
    '此站点没有单独的配置：使用全局配置。',
  ],
  own: ['This site has a profile of its own.', '此站点使用单独的配置。'],
  branches: [
    'It has branches that this form cannot show; saving here replaces them.',
    '其中的分支无法在此表单显示；在此保存会将其替换。',
  ],
  proxy: [
    'Addresses of proxy {number}, from the internet inwards',
    '第 {number} 层代理的地址（由外向内）',
  ],
  none: ['None', '无'],
  header: ['Header that names the client', '表示客户端的请求头'],
  save: ['Save', '保存'],
  reset: ['Use the profile of the deployment', '使用全局配置'],
  resetAsk: ['Drop the profile of this site?', '删除此站点的配置？'],
});

/** The view. */
export function SiteTrust({ siteId }: { readonly siteId: string }): JSX.Element {
  const found = useCall(siteId, () => profileOf(siteId));
  const known = useCall('lists', (signal) =>
    allItems((page) => lists.listIpLists({ page }, { signal })),
  );
  return (
    <>
      <State of={known}>
        {(items) => (
          <State of={found}>
            {({ profile, updatedAt, ofDeployment }) => (
              <>
                <TrustDrawing profile={profile ?? ofDeployment ?? emptyProfile} lists={items} />
                <Card title={w('title')} note={w(profile === undefined ? 'whole' : 'own')}>
                  {profile !== undefined && !isRow(profile, items) && (
                    <p class="notice">{w('branches')}</p>
                  )}
                  <TrustForm
                    siteId={siteId}
                    first={{ profile, updatedAt }}
                    known={items}
                    changed={found.reload}
                  />
                  {profile !== undefined && (
                    <Act
                      label={w('reset')}
                      ask={w('resetAsk')}
                      codes={['system:write']}
                      run={() => trust.resetTrustProfile({ siteId })}
                      done={found.reload}
                    />
                  )}
                </Card>
              </>
            )}
          </State>
        )}
      </State>
      <ExplainTrust siteId={siteId} />
    </>
  );
}

/** A profile as it was read; nothing where that of the deployment holds. */
interface Held {
  readonly profile?: TrustProfile | undefined;
  readonly updatedAt?: Timestamp | undefined;
  /** The one that holds where the site has none. */
  readonly ofDeployment?: TrustProfile | undefined;
}

const emptyProfile = create(TrustProfileSchema);

async function profileOf(siteId: string): Promise<Held> {
  try {
    return await trust.getTrustProfile({ siteId });
  } catch (thrown) {
    if (ConnectError.from(thrown).code !== Code.NotFound) throw thrown;
  }
  const { profile: ofDeployment } = await trust.getTrustProfile({});
  return { ofDeployment };
}

function TrustForm({
  siteId,
  first,
  known,
  changed,
}: {
  readonly siteId: string;
  readonly first: Held;
  readonly known: readonly IpList[];
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const fieldsOf = ({ profile }: Held): Field[] => profileFields(profile ?? emptyProfile, known);
  return (
    <Edit
      label={w('title')}
      codes={['system:write']}
      submit={w('save')}
      base={base}
      fields={fieldsOf(first)}
      save={async (values) => {
        base.current = await trust.setTrustProfile({
          siteId,
          profile: enteredProfile(values, known),
          expectedUpdatedAt: base.current.updatedAt ?? timestampFromMs(0),
        });
      }}
      saved={changed}
      latest={async () => {
        base.current = await profileOf(siteId);
        return heldBy(fieldsOf(base.current));
      }}
    />
  );
}

/** Whether the form can show all of a profile: saving it as shown changes nothing but names. */
function isRow(profile: TrustProfile, known: readonly IpList[]): boolean {
  const shown = enteredProfile(heldBy(profileFields(profile, known)), known);
  return shapeOf(profile) === shapeOf(shown);
}

/** What a profile says, with nodes by their place: names and ids of no consequence are left out. */
function shapeOf({ nodes, edges, extractionRules }: TrustProfile): string {
  const place = (id: string): string => {
    const at = nodes.findIndex((node) => node.id === id);
    return at < 0 ? id : String(at);
  };
  return JSON.stringify([
    nodes.map((node) => [node.trust?.ipListIds, node.realIpHeader, node.xffMode]),
    edges.map(({ from, to }) => [place(from), place(to)]),
    extractionRules.map(({ $typeName: _type, $unknown: _unknown, id: _id, nodeIds, ...rule }) => [
      Object.entries(rule).sort(([left], [right]) => (left < right ? -1 : 1)),
      nodeIds.map(place),
    ]),
  ]);
}

function profileFields(
  { nodes, extractionRules }: TrustProfile,
  known: readonly IpList[],
): Field[] {
  const proxies = Array.from({ length: proxiesMax }, (_, at) => ({
    name: `proxy${at}`,
    label: w('proxy', { number: at + 1 }),
    value: nodes[at]?.trust?.ipListIds[0] ?? '',
    choices: [['', w('none')] as const, ...known.map(({ id, name }) => [id, name] as const)],
  }));
  const header = extractionRules[0]?.header ?? headers[0]!;
  const shown = headers.includes(header) ? headers : [header, ...headers];
  const choices = shown.map((one) => [one, one] as const);
  return [...proxies, { name: 'header', label: w('header'), value: header, choices }];
}

/** The proxies that were entered as a row from the internet to us. */
function enteredProfile(values: Values, known: readonly IpList[]): TrustProfile {
  const chosen = Array.from({ length: proxiesMax }, (_, at) => values[`proxy${at}`] ?? '').filter(
    (id) => id !== '',
  );
  const nodes = chosen.map((id, at) => ({
    id: `proxy-${at + 1}`,
    name: known.find((one) => one.id === id)?.name ?? id,
    trust: { ipListIds: [id] },
  }));
  const nodeIds = nodes.map(({ id }) => id);
  const ways = ['internet', ...nodeIds, 'waf'];
  const header = values['header'] ?? '';
  return create(TrustProfileSchema, {
    nodes,
    edges: ways.slice(1).map((to, at) => ({ from: ways[at]!, to })),
    extractionRules: [{ id: 'header-1', header, parser: parserOf(header), nodeIds, enabled: true }],
  });
}

function parserOf(header: string): string {
  if (header === 'forwarded') return 'forwarded';
  return header === 'x-forwarded-for' ? 'xff' : 'single_ip';
}
