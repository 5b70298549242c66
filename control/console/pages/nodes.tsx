/** Nodes: what each serves and how it is, a new one by one command, and groups of them. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  AgentService,
  type CreateNodeInstallationResponse,
  type Node,
} from '../../../proto/gen/waf/v1/agent_pb.ts';
import { AgentGroupService } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, partsOf } from '../parts/edit.tsx';
import { FoldedEdit, List, usePages } from '../parts/list.tsx';
import { Card, Fold, Head } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { capitalized, stateName } from '../parts/state-name.ts';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { exactNumber, localTime, pageTexts } from '../text/text.ts';

const agents = createClient(AgentService, transport);
const groups = createClient(AgentGroupService, transport);

const w = pageTexts({
  title: ['Nodes', '节点'],
  note: [
    'Engines that serve traffic. Each keeps serving when this place is away.',
    '承载流量的引擎。管理端离线时节点仍继续服务。',
  ],
  name: ['Name', '名称'],
  place: ['Place', '位置'],
  state: ['State', '状态'],
  version: ['Version', '版本'],
  config: ['Configuration', '配置'],
  seen: ['Last seen', '最近在线'],
  serving: ['serving', '正在服务'],
  inForce: ['in force', '已生效'],
  retry: ['Send again', '重新下发'],
  remove: ['Remove', '移除'],
  removeAsk: ['Remove this node? It stops serving.', '移除此节点？它将停止服务。'],
  empty: ['No node.', '没有节点。'],
  enrol: ['Add a node', '添加节点'],
  url: ['Address of this service, as the node reaches it', '节点访问本服务的地址'],
  tags: ['Tags', '标签'],
  minutes: ['Valid for minutes', '有效分钟数'],
  make: ['Make the command', '生成命令'],
  run: [
    'Run this on the new machine, before {until}. It appears above.',
    '请在 {until} 之前于新机器上运行，随后节点会出现在上方。',
  ],
  enrolled: ['{count} of {max} enrolled', '已注册 {count} / {max}'],
  groups: ['Groups', '分组'],
  groupsNote: ['Nodes by their tags, for sites and upgrades.', '按标签划分节点，用于站点与升级。'],
  members: ['Nodes', '节点数'],
  noGroup: ['No group: every node serves every site.', '没有分组：所有节点服务所有站点。'],
  addGroup: ['Add a group', '添加分组'],
  add: ['Add', '添加'],
});

/** The page. */
export function Nodes(): JSX.Element {
  const found = useCall('nodes', (signal) => agents.listNodes({}, { signal }));
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <State of={found}>{({ items }) => <NodeTable items={items} changed={found.reload} />}</State>
      <Enrol />
      <Groups />
    </>
  );
}

function NodeTable({
  items,
  changed,
}: {
  readonly items: readonly Node[];
  readonly changed: () => void;
}): JSX.Element {
  return (
    <Table
      label={w('title')}
      items={items}
      empty={w('empty')}
      columns={[
        { title: w('name'), of: ({ name, id }) => name || id },
        {
          title: w('place'),
          of: ({ placement, addresses }) => [stateName(placement), ...addresses].join(' '),
        },
        { title: w('state'), of: (node) => <NodeState node={node} /> },
        { title: w('version'), of: ({ version }) => version },
        {
          title: w('config'),
          of: ({ configRevision, applyResult, applyError }) => (
            <span title={said(applyError)}>
              <VisibleText text={configText(configRevision, applyResult, said(applyError))} />
            </span>
          ),
        },
        { title: w('seen'), by: ({ lastSeenAt }) => lastSeenAt },
        {
          title: '',
          of: ({ id, remoteAgent }) => (
            <span class="actions">
              <Act
                label={w('retry')}
                codes={['agent:write']}
                run={() => agents.retryNodeConfig({ nodeId: id })}
                done={changed}
              />
              {remoteAgent !== undefined && (
                <Act
                  label={w('remove')}
                  ask={w('removeAsk')}
                  codes={['agent:delete']}
                  run={() => agents.deleteAgent({ id })}
                  done={changed}
                />
              )}
            </span>
          ),
        },
      ]}
    />
  );
}

/** The revision of the configuration that a node has, and whether it took it over. */
function configText(revision: bigint, result: string, error: string): string {
  const took = result === 'success' ? w('inForce') : stateName(result).toLowerCase();
  const number = exactNumber(revision);
  return [[number, took].filter(Boolean).join(', '), error].filter(Boolean).join(': ');
}

function NodeState({ node }: { readonly node: Node }): JSX.Element {
  const { connectionStatus, proxyStatus } = node;
  const states = [
    ...(connectionStatus.toLowerCase() === 'local' ? [] : [stateName(connectionStatus)]),
    proxyStatus.toLowerCase() === 'healthy' ? w('serving') : stateName(proxyStatus),
  ];
  const good = /^(?:online|connected|local)$/i.test(connectionStatus);
  return (
    <span class={good ? 'good' : 'warning'}>{capitalized(states.join(', ').toLowerCase())}</span>
  );
}

function Enrol(): JSX.Element {
  const [made, setMade] = useState<CreateNodeInstallationResponse | null>(null);
  return (
    <Fold title={w('enrol')}>
      <Edit
        label={w('enrol')}
        codes={['agent:install']}
        submit={w('make')}
        done=""
        fields={[
          {
            name: 'url',
            api: ['controllerUrl'],
            label: w('url'),
            required: true,
            value: window.location.origin,
          },
          {
            name: 'minutes',
            api: ['ttlSeconds'],
            label: w('minutes'),
            kind: 'number',
            value: '60',
          },
          { name: 'tags', label: w('tags') },
        ]}
        save={async ({ url = '', minutes, tags }) =>
          setMade(
            await agents.createNodeInstallation({
              controllerUrl: url,
              ttlSeconds: Number(minutes) * 60,
              maxNodes: 1,
              tags: partsOf(tags),
            }),
          )
        }
      />
      {made !== null && <Installation made={made} />}
    </Fold>
  );
}

function Installation({ made }: { readonly made: CreateNodeInstallationResponse }): JSX.Element {
  const { tokenId, command, expiresAt } = made;
  const found = useCall(
    tokenId,
    (signal) => agents.getNodeInstallStatus({ tokenId }, { signal }),
    3000,
  );
  return (
    <>
      <p>{w('run', { until: localTime(expiresAt) })}</p>
      <pre class="code">
        <VisibleText text={command} lines />
      </pre>
      <State of={found}>
        {({ registeredNodes, maxNodes }) => (
          <p aria-live="polite">{w('enrolled', { count: registeredNodes, max: maxNodes })}</p>
        )}
      </State>
    </>
  );
}

function Groups(): JSX.Element {
  const found = usePages('groups', (page, signal) => groups.listAgentGroups({ page }, { signal }));
  return (
    <Card title={w('groups')} note={w('groupsNote')}>
      <List
        of={found}
        label={w('groups')}
        empty={w('noGroup')}
        columns={[
          { title: w('name'), of: ({ name }) => name },
          { title: w('tags'), of: ({ selector }) => selector?.matchTags.join(', ') ?? '' },
          {
            title: w('members'),
            number: true,
            by: ({ memberCount }) => memberCount,
          },
        ]}
        remove={{
          label: w('remove'),
          ask: `${w('remove')}?`,
          codes: ['agent_group:delete'],
          run: ({ id }) => groups.deleteAgentGroup({ id }),
        }}
      />
      <FoldedEdit
        inside
        label={w('addGroup')}
        codes={['agent_group:write']}
        submit={w('add')}
        fields={[
          { name: 'name', label: w('name'), required: true },
          { name: 'tags', label: w('tags'), required: true },
        ]}
        save={({ name = '', tags }) =>
          groups.createAgentGroup({
            group: { name, selector: { matchTags: partsOf(tags) } },
          })
        }
        saved={found.reload}
      />
    </Card>
  );
}
