/** From a document to checks in force: what would change is shown before it is decided. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SchemaSource } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, type Field, type Values } from '../parts/edit.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { said } from '../text/sentences.ts';
import { pageTexts } from '../text/text.ts';
import { putInForce, readInForce, review, Unclear, type Mode, type Review } from './api-review.ts';

const codes = ['api_inventory:write', 'site:write', 'policy:write'];

const w = pageTexts({
  title: ['2. Review', '2. 审核'],
  note: [
    'Shows which operations a document would check. Nothing is in force by that.',
    '显示文档将校验哪些操作，此时不会生效。',
  ],
  noDocument: ['Upload a document first.', '请先上传文档。'],
  document: ['Document', '文档'],
  host: ['Host of the API', 'API 主机名'],
  basePath: ['Its paths begin with', '路径前缀'],
  basePathHint: ['For example /v1; empty for the root', '例如 /v1；留空表示根路径'],
  mode: ['A request that breaks a check', '违反校验的请求'],
  observe: ['Is counted and passes', '计数并放行'],
  enforce: ['Is refused', '拒绝'],
  partial: ['Refuse also where something is not checked', '部分内容无法校验的操作也拒绝'],
  newEntries: ['Make new entries where several may be meant', '存在多个可能条目时新建条目'],
  unclear: [
    'These operations may be one of several known ones: {list}. Choose to make new entries, or decide each under “All operations”.',
    '以下操作可能对应多个已有条目：{list}。请选择新建条目，或在“全部操作”中逐个确定。',
  ],
  undeclared: ['A request that no operation takes', '没有操作匹配的请求'],
  keep: ['Stays as it is', '保持不变'],
  allow: ['Passes', '放行'],
  counted: ['Is counted and passes', '计数并放行'],
  block: ['Is refused', '拒绝'],
  show: ['Show what would change', '查看变更'],
  shown: ['See what would change below.', '变更见下方。'],
  operation: ['Operation', '操作'],
  was: ['Is now', '当前'],
  becomes: ['Becomes', '变为'],
  checked: ['Checked parts', '已校验部分'],
  unchecked: ['Not checked', '未校验部分'],
  removed: ['No longer declared: {list}', '不再声明：{list}'],
  unsupported: ['Nodes cannot carry it out: {reason}', '节点无法执行：{reason}'],
  put: ['Put this in force', '使其生效'],
  putAsk: ['Check requests like this from now on?', '从现在起按此校验请求？'],
  done: ['In force. Nodes take it over now.', '已生效，节点正在应用。'],
  inForce: ['3. In force', '3. 生效中'],
  nothing: ['No operation is checked yet.', '尚未校验任何操作。'],
  off: ['Not checked', '不校验'],
});

/** Words of a mode, as of what becomes of a request. */
const modeText = (mode: Mode): string => w(mode);

interface EnforceProps {
  readonly siteId: string;
  readonly hosts: readonly string[];
  readonly sources: readonly SchemaSource[];
  /** Called once something is in force. */
  readonly changed: () => void;
}

/** The form, the review, and what is in force. */
export function Enforce({ siteId, hosts, sources, changed }: EnforceProps): JSX.Element {
  const [shown, setShown] = useState<Review | null>(null);
  const [done, setDone] = useState(false);
  const inForce = useCall(siteId, (signal) => readInForce(siteId, signal));
  const show = async (values: Values): Promise<void> => {
    setDone(false);
    setShown(null);
    setShown(await review(wantedOf(siteId, values)).catch(explain));
  };
  return (
    <>
      <Card title={w('title')} note={w('note')}>
        {sources.length === 0 ? (
          <p class="quiet">{w('noDocument')}</p>
        ) : (
          <Edit
            keep
            label={w('title')}
            codes={codes}
            submit={w('show')}
            done={w('shown')}
            save={show}
            fields={reviewFields(sources, hosts)}
          />
        )}
        {shown !== null && (
          <Reviewed
            of={shown}
            done={() => {
              setShown(null);
              setDone(true);
              inForce.reload();
              changed();
            }}
          />
        )}
        <div aria-live="polite">{done && <p class="done">{w('done')}</p>}</div>
      </Card>
      <Card title={w('inForce')}>
        <State of={inForce}>
          {({ operations }) => (
            <Table
              label={w('inForce')}
              items={operations}
              empty={w('nothing')}
              columns={[
                { title: w('operation'), of: ({ key }) => key },
                { title: w('mode'), of: ({ mode }) => modeText(mode) },
              ]}
            />
          )}
        </State>
      </Card>
    </>
  );
}

function reviewFields(sources: readonly SchemaSource[], hosts: readonly string[]): Field[] {
  const exact = hosts.filter((host) => !host.startsWith('*'));
  const undeclared = [
    ['', w('keep')],
    ['allow', w('allow')],
    ['observe', w('counted')],
    ['block', w('block')],
  ] as const;
  return [
    {
      name: 'source',
      label: w('document'),
      choices: sources.toReversed().map(({ id, name }) => [id, name] as const),
    },
    { name: 'host', label: w('host'), value: exact[0] ?? '', required: true },
    { name: 'basePath', label: w('basePath'), hint: w('basePathHint') },
    {
      name: 'mode',
      label: w('mode'),
      value: 'observe',
      choices: (['observe', 'enforce'] as const).map((one) => [one, w(one)] as const),
    },
    { name: 'undeclared', label: w('undeclared'), value: '', choices: undeclared },
    { name: 'partial', label: w('partial'), kind: 'check' },
    { name: 'newEntries', label: w('newEntries'), kind: 'check' },
  ];
}

function wantedOf(siteId: string, values: Values) {
  return {
    siteId,
    sourceId: values['source'] ?? '',
    host: values['host'] ?? '',
    basePath: (values['basePath'] ?? '').replace(/\/+$/, ''),
    mode: values['mode'] === 'enforce' ? ('enforce' as const) : ('observe' as const),
    partial: values['partial'] === 'on',
    newEntries: values['newEntries'] === 'on',
    undeclared: values['undeclared'] ?? '',
  };
}

/** Errors: what was thrown; where a person has to decide, in the language of the page. */
function explain(thrown: unknown): never {
  if (!(thrown instanceof Unclear)) throw thrown;
  throw new Error(w('unclear', { list: thrown.keys.join(', ') }));
}

function Reviewed({ of, done }: { readonly of: Review; readonly done: () => void }): JSX.Element {
  const { operations, removed, unsupported } = of;
  return (
    <>
      <Table
        label={w('title')}
        items={operations}
        empty={w('nothing')}
        columns={[
          { title: w('operation'), of: ({ key }) => key },
          { title: w('was'), of: ({ before }) => modeText(before) },
          { title: w('becomes'), of: ({ after }) => modeText(after) },
          { title: w('checked'), number: true, by: ({ checked }) => checked },
          { title: w('unchecked'), number: true, by: ({ unchecked }) => unchecked },
        ]}
      />
      {removed.length > 0 && (
        <p class="notice">
          <VisibleText text={w('removed', { list: removed.join(', ') })} />
        </p>
      )}
      {unsupported === '' ? (
        <p class="actions">
          <Act
            primary
            label={w('put')}
            ask={w('putAsk')}
            codes={codes}
            run={() => putInForce(of, 'console')}
            done={done}
          />
        </p>
      ) : (
        <p class="notice">
          <VisibleText text={w('unsupported', { reason: said(unsupported) })} />
        </p>
      )}
    </>
  );
}
