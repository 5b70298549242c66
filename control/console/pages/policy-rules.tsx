/** The own rules of a policy: a list with how often each matched, a new one, and its preview. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CustomRuleService } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { useCall } from '../call.ts';
import { Edit, type Field, type Values } from '../parts/edit.tsx';
import { Link } from '../parts/link.tsx';
import { FoldedEdit, List, usePages } from '../parts/list.tsx';
import { Fold } from '../parts/panel.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { exactNumber, pageTexts } from '../text/text.ts';
import { timeRange } from '../time-span.ts';

const customRules = createClient(CustomRuleService, transport);
const logs = createClient(LogService, transport);

const w = pageTexts({
  rules: ['Own rules', '自定义规则'],
  saved: ['Saved. Compiling rules…', '已保存，正在编译规则…'],
  rule: ['Rule', '规则'],
  remove: ['Delete', '删除'],
  add: ['Add', '添加'],
  name: ['Name', '名称'],
  phase: ['Phase', '阶段'],
  hits: ['Events in 30 days', '30 天内事件'],
  never: ['never', '从未'],
  noRule: ['No rule of your own.', '没有自定义规则。'],
  addRule: ['Add a rule', '添加规则'],
  text: ['SecLang', 'SecLang'],
  preview: ['Preview a rule without saving it', '预览规则（不保存）'],
});

/** The fields of a rule of one's own. */
const ruleFields = (): Field[] => [
  { name: 'name', label: w('name'), required: true },
  { name: 'phase', label: w('phase'), kind: 'number', value: '2' },
  { name: 'text', api: ['seclang'], label: w('text'), kind: 'area', required: true },
];

const ruleOf = (policyId: string, { name = '', text = '', phase }: Values): object => ({
  policyId,
  name,
  seclang: text,
  phase: Number(phase),
  enabled: true,
});

/** Events of a month by rule, of these rules. */
async function hitsOf(
  ruleIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> {
  const counts = ruleIds.map(async (rule) => {
    const query = { timeRange: timeRange('30d'), ruleIds: [rule] };
    const { total } = await logs.getSecurityLogSummary({ query }, { signal });
    return [rule, total] as const;
  });
  return new Map(await Promise.all(counts));
}

/** How often a rule matched, as the way to these events. */
function Hits({
  rule,
  of,
}: {
  readonly rule: string;
  readonly of: ReadonlyMap<string, bigint> | null;
}): JSX.Element {
  const count = of?.get(rule);
  if (count === undefined) return <>–</>;
  if (count === 0n) return <span class="quiet">{w('never')}</span>;
  return <Link href={`/attacks?span=30d&rule=${rule}`}>{exactNumber(count)}</Link>;
}

/** Shows them, and takes new ones. */
export function OwnRules({ id: policyId }: { readonly id: string }): JSX.Element {
  const found = usePages(policyId, (page, signal) =>
    customRules.listCustomRules({ policyId, page }, { signal }),
  );
  const ids = (found.value?.items ?? []).map(({ ruleId }) => String(ruleId));
  const hits = useCall(ids.join(' '), (signal) => hitsOf(ids, signal));
  return (
    <>
      <List
        of={found}
        label={w('rules')}
        empty={w('noRule')}
        columns={[
          { title: w('rule'), of: ({ ruleId }) => String(ruleId) },
          { title: w('name'), of: ({ name }) => name },
          {
            title: w('text'),
            of: ({ seclang }) => (
              <code class="value">
                <VisibleText text={seclang} />
              </code>
            ),
          },
          {
            title: w('hits'),
            of: ({ ruleId }) => <Hits rule={String(ruleId)} of={hits.value} />,
          },
        ]}
        remove={{
          label: w('remove'),
          ask: `${w('remove')}?`,
          codes: ['policy:custom:write'],
          run: ({ id }) => customRules.deleteCustomRule({ id }),
        }}
      />
      <AddRule policyId={policyId} changed={found.reload} />
      <PreviewRule policyId={policyId} />
    </>
  );
}

function PreviewRule({ policyId }: { readonly policyId: string }): JSX.Element {
  const [preview, setPreview] = useState('');
  return (
    <Fold title={w('preview')}>
      <Edit
        label={w('preview')}
        codes={['policy:preview']}
        submit={w('preview')}
        done=""
        fields={ruleFields()}
        keep
        save={async (values) => {
          const { seclang, warnings } = await customRules.previewCustomRule({
            rule: ruleOf(policyId, values),
          });
          setPreview([...warnings, seclang].join('\n'));
        }}
      />
      {preview !== '' && (
        <pre class="code">
          <VisibleText text={preview} lines />
        </pre>
      )}
    </Fold>
  );
}

function AddRule({
  policyId,
  changed,
}: {
  readonly policyId: string;
  readonly changed: () => void;
}): JSX.Element {
  return (
    <FoldedEdit
      label={w('addRule')}
      codes={['policy:custom:write']}
      submit={w('add')}
      done={w('saved')}
      fields={ruleFields()}
      save={(values) => customRules.createCustomRule({ rule: ruleOf(policyId, values) })}
      saved={changed}
    />
  );
}
