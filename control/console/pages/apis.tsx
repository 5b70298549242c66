/** APIs of a site: its documents, declarations, what is bound, and history. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiSchemaService } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { OperationControlService } from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { address, go, withQuery } from '../address.ts';
import { useCall } from '../call.ts';
import { CodeLines } from '../parts/code-lines.tsx';
import { Edit } from '../parts/edit.tsx';
import { Link } from '../parts/link.tsx';
import { allItems, CursorSteps, List, useCursor } from '../parts/list.tsx';
import { Card, Fold, Head } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { Enforce } from './api-enforce.tsx';

const schemas = createClient(ApiSchemaService, transport);
const controls = createClient(OperationControlService, transport);
const sites = createClient(SiteService, transport);

const w = pageTexts({
  title: ['APIs', 'API'],
  note: [
    'Documents say what an API takes; requests that differ are reported or blocked.',
    '文档描述 API 接受的内容；不符的请求会被报告或拦截。',
  ],
  site: ['Site', '站点'],
  noSite: ['No site yet: create one first.', '还没有站点：请先创建。'],
  sites: ['To the sites', '前往站点'],
  documents: ['1. Documents', '1. 文档'],
  documentsNote: [
    'OpenAPI, GraphQL, WSDL or protobuf, as the API has it.',
    'OpenAPI、GraphQL、WSDL 或 protobuf 文档。',
  ],
  name: ['Name', '名称'],
  format: ['Format', '格式'],
  version: ['Version', '版本'],
  size: ['Bytes', '字节'],
  warnings: ['Warnings', '警告'],
  noDocument: ['No document yet: upload one.', '还没有文档：请上传。'],
  source: ['Text of the document', '文档内容'],
  file: ['Document', '文档'],
  upload: ['Upload', '上传'],
  kept: ['What is kept for review', '保留的审核数据'],
  profiles: ['Checks', '校验'],
  operations: ['Operations', '操作数'],
  made: ['Made', '创建时间'],
  noProfile: ['No checks yet.', '还没有校验。'],
  bindings: ['Choices of operations', '操作选择'],
  noBinding: ['No choice yet.', '还没有选择。'],
  declarations: ['Declarations', '声明'],
  noDeclaration: ['No declaration yet.', '还没有声明。'],
  history: ['4. What was put in force', '4. 已生效的变更'],
  revision: ['Revision', '修订版'],
  state: ['State', '状态'],
  reason: ['Reason', '原因'],
  noHistory: ['Nothing was put in force yet.', '尚无生效的变更。'],
});

/** The page. */
export function Apis(): JSX.Element {
  const found = useCall('sites', (signal) =>
    allItems((page) => sites.listSites({ page }, { signal })),
  );
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <State of={found}>
        {(items) => {
          const wanted = address.value.query.get('site');
          const site = items.find(({ id }) => id === wanted) ?? items[0];
          if (site === undefined) {
            return (
              <p class="empty">
                {w('noSite')} <Link href="/sites">{w('sites')}</Link>
              </p>
            );
          }
          return (
            <>
              <div class="filters">
                <label>
                  {w('site')}
                  <select
                    data-filter
                    value={site.id}
                    onChange={({ currentTarget }) =>
                      go(withQuery({ site: currentTarget.value }), true)
                    }
                  >
                    {items.map(({ id, name }) => (
                      <option value={id}>{name}</option>
                    ))}
                  </select>
                </label>
              </div>
              <Documents
                key={site.id}
                siteId={site.id}
                hosts={[site.primaryHost, ...site.aliases]}
              />
            </>
          );
        }}
      </State>
    </>
  );
}

function Documents({
  siteId,
  hosts,
}: {
  readonly siteId: string;
  readonly hosts: readonly string[];
}): JSX.Element {
  const sources = useCall(siteId, (signal) => schemas.listSchemaSources({ siteId }, { signal }));
  const [turn, setTurn] = useState(0);
  return (
    <>
      <Card title={w('documents')} note={w('documentsNote')}>
        <State of={sources}>
          {({ sources: items }) => (
            <Table
              label={w('documents')}
              items={items}
              empty={w('noDocument')}
              columns={[
                { title: w('name'), of: ({ name }) => name },
                {
                  title: w('format'),
                  of: ({ documentFamily, format }) => documentFamily || format,
                },
                { title: w('version'), of: ({ documentVersion }) => documentVersion },
                { title: w('size'), number: true, by: ({ sizeBytes }) => sizeBytes },
                { title: w('warnings'), number: true, by: ({ warnings }) => warnings },
              ]}
            />
          )}
        </State>
        <Upload siteId={siteId} changed={sources.reload} />
      </Card>
      <Enforce
        siteId={siteId}
        hosts={hosts}
        sources={sources.value?.sources ?? []}
        changed={() => setTurn(turn + 1)}
      />
      <Kept key={turn} siteId={siteId} />
    </>
  );
}

function Upload({
  siteId,
  changed,
}: {
  readonly siteId: string;
  readonly changed: () => void;
}): JSX.Element {
  return (
    <Edit
      label={w('upload')}
      codes={['api_inventory:write', 'site:write']}
      submit={w('upload')}
      fields={[
        { name: 'name', label: w('name'), required: true },
        {
          name: 'format',
          label: w('format'),
          value: 'yaml',
          choices: [
            ['yaml', 'YAML'],
            ['json', 'JSON'],
          ],
        },
        { name: 'file', label: w('file'), kind: 'file', into: 'source' },
        { name: 'source', label: w('source'), kind: 'area', beside: CodeLines },
      ]}
      save={({ name = '', format = '', file = '', source = '' }) =>
        schemas.stageSchemaSource({
          siteId,
          name,
          format,
          source: new TextEncoder().encode(source || file),
          idempotencyKey: window.crypto.randomUUID(),
        })
      }
      saved={changed}
    />
  );
}

/** What was put in force before, and what is kept for it. */
function Kept({ siteId }: { readonly siteId: string }): JSX.Element {
  const [before, setBefore] = useCursor(siteId);
  const history = useCall(`${siteId} ${before}`, (signal) =>
    controls.listOperationControlHistory({ siteId, beforeRevision: BigInt(before) }, { signal }),
  );
  const next = history.value?.nextBeforeRevision ?? 0n;
  return (
    <>
      <Card title={w('history')}>
        <List
          of={history}
          label={w('history')}
          empty={w('noHistory')}
          sortable={false}
          columns={[
            { title: w('revision'), by: ({ controlRevision }) => controlRevision },
            { title: w('reason'), of: ({ reason }) => reason },
            { title: w('state'), of: ({ latestStatus }) => latestStatus },
            { title: w('made'), by: ({ createdAt }) => createdAt },
          ]}
        />
        <CursorSteps
          cursor={before}
          page={{ hasMore: next !== 0n, nextCursor: String(next) }}
          go={setBefore}
        />
      </Card>
      <Choices siteId={siteId} />
    </>
  );
}

/** Checks, choices and declarations that a review stored. */
function Choices({ siteId }: { readonly siteId: string }): JSX.Element {
  const profiles = useCall(siteId, (signal) => schemas.listSchemaProfiles({ siteId }, { signal }));
  const bindings = useCall(siteId, (signal) => schemas.listSchemaBindings({ siteId }, { signal }));
  const contracts = useCall(siteId, (signal) =>
    schemas.listSchemaContracts({ siteId }, { signal }),
  );
  return (
    <Fold title={w('kept')}>
      <h3>{w('profiles')}</h3>
      <State of={profiles}>
        {({ profiles: items }) => (
          <Table
            label={w('profiles')}
            items={items}
            empty={w('noProfile')}
            columns={[
              { title: w('revision'), by: ({ revision }) => revision },
              {
                title: w('operations'),
                number: true,
                by: ({ operationCount }) => operationCount,
              },
              { title: w('made'), of: ({ createdAt }) => createdAt },
            ]}
          />
        )}
      </State>
      <h3>{w('bindings')}</h3>
      <State of={bindings}>
        {({ bindings: items }) => (
          <Table
            label={w('bindings')}
            items={items}
            empty={w('noBinding')}
            columns={[
              { title: w('name'), of: ({ id }) => id },
              { title: w('made'), of: ({ createdAt }) => createdAt },
            ]}
          />
        )}
      </State>
      <h3>{w('declarations')}</h3>
      <State of={contracts}>
        {({ contracts: items }) => (
          <Table
            label={w('declarations')}
            items={items}
            empty={w('noDeclaration')}
            columns={[
              { title: w('revision'), by: ({ revision }) => revision },
              { title: w('made'), of: ({ createdAt }) => createdAt },
            ]}
          />
        )}
      </State>
    </Fold>
  );
}
