/** What a person does about an event beside allowing it: block, record only, copy. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { IpListService, type IpList } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { LogService, type SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import {
  ListChange,
  RuleOverrideAction,
  RuleOverrideService,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit } from '../parts/edit.tsx';
import { allItems } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { Failure } from '../parts/state.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { inList } from '../parts/in-list.ts';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { scoreOf } from './score-tags.ts';

const lists = createClient(IpListService, transport);
const logs = createClient(LogService, transport);
const overrides = createClient(RuleOverrideService, transport);
/** The list that “block this client” fills; it is made with the first one. */
const blockedName = 'Blocked clients';
const noteMax = 200;

const w = pageTexts({
  title: ['Act on this client or rule', '处理此客户端或规则'],
  block: ['Block {client} on all sites', '在所有站点拦截 {client}'],
  blockAsk: ['Refuse every request of {client}?', '拒绝 {client} 的所有请求？'],
  blocked: [
    'Blocked: the list “{list}” holds it, and denies on all sites.',
    '已拦截：已加入名单“{list}”，对所有站点拒绝。',
  ],
  list: ['Address list', 'IP 名单'],
  add: ['Add to the list', '加入名单'],
  logOnly: ['Only record rule {rule}', '规则 {rule} 仅记录'],
  logOnlyAsk: [
    'Rule {rule} blocks nothing any more on this site?',
    '规则 {rule} 在此站点不再拦截？',
  ],
  logged: [
    'Saved. The rule only records once the rules are compiled.',
    '已保存。规则编译完成后仅记录。',
  ],
  curl: ['Copy as curl', '复制为 curl'],
  copied: ['Copied.', '已复制。'],
});

/** The panel. */
export function Respond({
  event,
  policyId,
}: {
  readonly event: SecurityEvent;
  readonly policyId: string;
}): JSX.Element {
  const [done, setDone] = useState('');
  const [curl, setCurl] = useState('');
  const client = event.clientIp;
  const rule = event.messages.toSorted((a, b) => b.scoreContribution - a.scoreContribution)[0]
    ?.ruleId;
  // A rule that only records is still a sign of the score.
  const byScore = scoreOf(event.messages)?.reached === true;
  const known = useCall('lists', (signal) =>
    allItems((page) => lists.listIpLists({ page }, { signal })),
  );
  const byHand = (known.value ?? []).filter(({ source }) => source === undefined);
  const note = `from request ${event.requestId}`.slice(0, noteMax);
  return (
    <Card title={w('title')}>
      <div class="actions">
        <Act
          label={w('block', { client })}
          ask={w('blockAsk', { client })}
          codes={['policy:iplist:write']}
          run={() => blockClient(client, note)}
          done={() => {
            setDone(w('blocked', { list: blockedName }));
            known.reload();
          }}
        />
        {rule !== undefined && policyId !== '' && !byScore && (
          <Act
            label={w('logOnly', { rule })}
            ask={w('logOnlyAsk', { rule })}
            codes={['policy:rule:override']}
            run={() => recordOnly(event, policyId, rule, note)}
            done={() => setDone(w('logged'))}
          />
        )}
        <Act
          label={w('curl')}
          codes={['log:read']}
          run={async () => {
            const text = await curlText(event);
            setCurl(text);
            await window.navigator.clipboard.writeText(text);
            setDone(w('copied'));
          }}
        />
      </div>
      <Failure of={known} />
      <AddToList byHand={byHand} client={client} note={note} />
      <div aria-live="polite">
        {done !== '' && <p class="done">{done}</p>}
        {curl !== '' && (
          <pre class="code">
            <VisibleText text={curl} lines />
          </pre>
        )}
      </div>
    </Card>
  );
}

function AddToList({
  byHand,
  client,
  note,
}: {
  readonly byHand: readonly IpList[];
  readonly client: string;
  readonly note: string;
}): JSX.Element | null {
  if (byHand.length === 0) return null;
  return (
    <Edit
      label={w('add')}
      codes={['policy:iplist:write']}
      submit={w('add')}
      fields={[
        {
          name: 'list',
          label: w('list'),
          choices: byHand.map(({ id, name }) => [id, name] as const),
        },
      ]}
      save={({ list = '' }) =>
        lists.addEntries({ ipListId: list, entries: [{ value: client, note }] })
      }
    />
  );
}

/** Adds the client to the list of blocked clients, which denies on all sites. */
async function blockClient(value: string, note: string): Promise<void> {
  const items = await allItems((page) => lists.listIpLists({ page, query: blockedName }));
  const found = items.find(({ name }) => name === blockedName);
  let id = found?.id ?? '';
  if (found === undefined) {
    const made = await lists.createIpList({
      ipList: { name: blockedName, entries: [{ value, note }] },
    });
    id = made.ipList?.id ?? '';
  } else {
    await lists.addEntries({ ipListId: id, entries: [{ value, note }] });
  }
  const { items: bindings } = await lists.listGlobalIpListBindings({});
  if (bindings.some(({ ipListId, kind }) => ipListId === id && kind === 'deny')) return;
  await lists.upsertGlobalIpListBinding({
    binding: { ipListId: id, kind: 'deny', ...inList },
  });
}

async function recordOnly(
  { siteId }: SecurityEvent,
  policyId: string,
  crsRuleId: string,
  rationale: string,
): Promise<void> {
  const actionEnum = RuleOverrideAction.LOG_ONLY;
  await overrides.upsertRuleOverride({
    override: { policyId, siteId, crsRuleId, actionEnum, rationale },
    // What is excluded of the rule already stays, for the day it blocks again.
    listChange: ListChange.ADD,
  });
}

async function curlText(event: SecurityEvent): Promise<string> {
  // Few copy it, and the page is as large as it may be.
  const { curlOf } = await import('./curl.ts');
  const evidence = event.requestEvidence;
  if (evidence?.available !== true) return curlOf(event, []);
  const { headers } = await logs.getRequestEvidenceHeaders({ evidenceId: evidence.evidenceId });
  return curlOf(event, headers);
}
