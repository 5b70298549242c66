/** The own rules of a policy: a list with how often each matched, a new one, and its preview. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CustomRuleService } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { CodeLines } from '../parts/code-lines.tsx';
import { Edit, type Field, type Values } from '../parts/edit.tsx';
import { FoldedEdit, List, usePages } from '../parts/list.tsx';
import { Fold } from '../parts/panel.tsx';
import { useRuleEvents } from '../parts/rule-events.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { pageTexts } from '../text/text.ts';

const customRules = createClient(CustomRuleService, transport);

const w = pageTexts({
  rules: ['Own rules', '自定义规则'],
  saved: ['Saved. Compiling rules…', '已保存，正在编译规则…'],
  rule: ['Rule', '规则'],
  remove: ['Delete', '删除'],
  add: ['Add', '添加'],
  name: ['Name', '名称'],
  phase: ['Phase', '阶段'],
  noRule: ['No rule of your own.', '没有自定义规则。'],
  addRule: ['Add a rule', '添加规则'],
  text: ['SecLang', 'SecLang'],
  preview: ['Preview a rule without saving it', '预览规则（不保存）'],
});

/** The fields of a rule of one's own. */
const ruleFields = (): Field[] => [
  { name: 'name', label: w('name'), required: true },
  { name: 'phase', label: w('phase'), kind: 'number', value: '2' },
  {
    ...{ name: 'text', api: ['seclang'], label: w('text'), kind: 'area', required: true },
    beside: CodeLines,
  },
];

const ruleOf = (policyId: string, { name = '', text = '', phase }: Values): object => ({
  policyId,
  name,
  seclang: text,
  phase: Number(phase),
  enabled: true,
});

/** Shows them, and takes new ones. */
export function OwnRules({ id: policyId }: { readonly id: string }): JSX.Element {
  const found = usePages(policyId, (page, signal) =>
    customRules.listCustomRules({ policyId, page }, { signal }),
  );
  const events = useRuleEvents(found.value?.items ?? [], ({ ruleId }) => String(ruleId));
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
          events,
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
          setPreview([...warnings.map(said), seclang].join('\n'));
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
