/** Logs: requests that were served, what went wrong in the service, and what is kept of both. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import {
  AccessLogRankingDimension,
  LogService,
  type AccessEvent,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { address, go, withQuery } from '../address.ts';
import { useCall } from '../call.ts';
import { ColumnChoice } from '../parts/column-choice.tsx';
import { textField } from '../parts/form.ts';
import { ListEnd, useLongList } from '../parts/long-list.tsx';
import { Head, Tabs } from '../parts/panel.tsx';
import { Groups, Ranking } from '../parts/ranking.tsx';
import { SiteChoice } from '../parts/site-choice.tsx';
import { SpanChoice } from '../parts/span-choice.tsx';
import { stateName } from '../parts/state-name.ts';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { exactNumber, pageTexts, t } from '../text/text.ts';
import { spanOf, timeRange } from '../time-span.ts';
import { Keeping } from './log-keeping.tsx';

const logs = createClient(LogService, transport);
const pageSize = 100;
const ranksShown = 8;
const filters = ['client', 'method', 'path', 'status', 'request'] as const;

const w = pageTexts({
  title: ['Logs', '日志'],
  note: [
    'Each request that is kept, what failed, and how long it is kept.',
    '保留的请求、故障记录以及保留时长。',
  ],
  access: ['Requests', '请求'],
  errors: ['Errors', '错误'],
  keeping: ['What is kept', '保留设置'],
  when: ['Time', '时间'],
  client: ['Client', '客户端'],
  request: ['Request', '请求'],
  status: ['Status', '状态码'],
  took: ['Took', '耗时'],
  ms: ['{ms} ms', '{ms} 毫秒'],
  bytes: ['Sent bytes', '发送字节'],
  agent: ['User agent', '用户代理'],
  path: ['Path begins with', '路径前缀'],
  method: ['Method', '方法'],
  empty: [
    'No request matches. The log policy decides which are kept.',
    '没有匹配的请求。日志策略决定保留哪些请求。',
  ],
  paths: ['Paths', '路径'],
  hosts: ['Hosts', '主机名'],
  clients: ['Clients', '客户端'],
  level: ['Level', '级别'],
  logger: ['Part', '来源'],
  message: ['Message', '消息'],
  noError: ['No error in this time.', '此时间段内没有错误。'],
});

/** Columns of the tables, in their order. */
const accessColumns = ['when', 'client', 'request', 'status', 'took', 'bytes', 'agent'] as const;
const errorColumns = ['when', 'level', 'logger', 'message'] as const;
const named = (columns: readonly Parameters<typeof w>[0][]): (readonly [string, string])[] =>
  columns.map((name) => [name, w(name)] as const);

/** The page. */
export function Logs(): JSX.Element {
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <Tabs
        label={w('title')}
        tabs={[
          { name: 'access', codes: ['log:read'], title: w('access'), view: () => <Access /> },
          { name: 'errors', codes: ['log:read'], title: w('errors'), view: () => <Errors /> },
          { name: 'keeping', codes: ['system:read'], title: w('keeping'), view: () => <Keeping /> },
        ]}
      />
    </>
  );
}

function Access(): JSX.Element {
  const { query } = address.value;
  const value = (name: string): string => query.get(name) ?? '';
  const range = (): ReturnType<typeof timeRange> => timeRange(spanOf(query.get('span')));
  const key = query.toString();
  const status = Number(value('status'));
  const found = useLongList(key, (cursor, signal) =>
    logs.queryAccessEvents(
      {
        page: { pageSize, cursor },
        timeRange: range(),
        clientIpCidrs: value('client') === '' ? [] : [value('client')],
        method: value('method'),
        pathPrefix: value('path'),
        siteId: value('site'),
        uniqueId: value('request'),
        statuses: Number.isInteger(status) && status > 0 ? [status] : [],
      },
      { signal },
    ),
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    const form = new FormData((event.currentTarget as HTMLElement).closest('form')!);
    const fields = [...filters, 'site'].map((name) => [name, textField(form, name)]);
    const request = textField(form, 'request');
    // Who got the id of a request need not know when it was.
    const span = request !== '' && request !== query.get('request') ? { span: '30d' } : {};
    go(withQuery({ ...Object.fromEntries(fields), ...span }));
  };
  return (
    <>
      <div class="head">
        <form class="filters" key={key} onSubmit={submit} aria-label={t('attacks.filter')}>
          {filters.map((name, index) => (
            <label>
              {name === 'request' ? t('event.id') : w(name)}
              <input
                name={name}
                defaultValue={value(name)}
                onChange={submit}
                {...kindOf(name)}
                {...(index === 0 ? { 'data-filter': true } : {})}
              />
            </label>
          ))}
          <SiteChoice chosen={value('site')} change={submit} />
        </form>
        <SpanChoice />
      </div>
      <AccessRankings key={key} />
      <State of={found}>{(items) => <AccessTable items={items} />}</State>
      <ListEnd of={found} />
    </>
  );
}

const kindOf = (name: string): object => (name === 'status' ? { type: 'number' } : {});

function AccessTable({ items }: { readonly items: readonly AccessEvent[] }): JSX.Element {
  return (
    <ColumnChoice table="access" columns={named(accessColumns)}>
      <Table
        label={w('access')}
        items={items}
        empty={w('empty')}
        sortable={false}
        columns={[
          { title: w('when'), line: true, by: ({ occurredAt }) => occurredAt },
          { title: w('client'), of: ({ clientIp }) => clientIp },
          {
            title: w('request'),
            of: ({ method, host, path }) => (
              <span class="request">
                <VisibleText text={`${method} ${host}${path}`} />
              </span>
            ),
          },
          { title: w('status'), number: true, of: ({ status }) => String(status) },
          {
            title: w('took'),
            number: true,
            of: ({ durationMs }) => w('ms', { ms: exactNumber(durationMs) }),
          },
          { title: w('bytes'), number: true, by: ({ bytesWritten }) => bytesWritten },
          {
            title: w('agent'),
            of: ({ userAgent }) => (
              <small class="agent" title={userAgent}>
                <VisibleText text={userAgent} />
              </small>
            ),
          },
        ]}
      />
    </ColumnChoice>
  );
}

function AccessRankings(): JSX.Element {
  const { query } = address.value;
  const range = timeRange(spanOf(query.get('span')));
  const siteId = query.get('site') ?? '';
  const kinds = [
    ['paths', AccessLogRankingDimension.PATH, 'path'],
    ['hosts', AccessLogRankingDimension.HOST, ''],
    ['clients', AccessLogRankingDimension.IP, 'client'],
  ] as const;
  const found = useCall('rankings', (signal) =>
    Promise.all(
      kinds.map(async ([, dimension]) =>
        logs.getAccessLogRankings({ timeRange: range, siteId, dimension }, { signal }),
      ),
    ),
  );
  return (
    <State of={found}>
      {(answers) => (
        <Groups>
          {kinds.map(([name, , field], index) => (
            <Ranking
              title={w(name)}
              ranks={(answers[index]?.entries ?? []).slice(0, ranksShown).map((one) => ({
                ...one,
                ...(field === '' ? {} : { href: withQuery({ [field]: one.key }) }),
              }))}
            />
          ))}
        </Groups>
      )}
    </State>
  );
}

function Errors(): JSX.Element {
  const span = spanOf(address.value.query.get('span'));
  const found = useLongList(span, (cursor, signal) =>
    logs.queryErrorEvents({ page: { pageSize, cursor }, timeRange: timeRange(span) }, { signal }),
  );
  return (
    <>
      <div class="head">
        <span />
        <SpanChoice />
      </div>
      <State of={found}>
        {(items) => (
          <ColumnChoice table="errors" columns={named(errorColumns)}>
            <Table
              label={w('errors')}
              items={items}
              empty={w('noError')}
              sortable={false}
              columns={[
                { title: w('when'), line: true, by: ({ occurredAt }) => occurredAt },
                { title: w('level'), of: ({ level }) => stateName(level) },
                { title: w('logger'), of: ({ logger }) => stateName(logger) },
                { title: w('message'), of: ({ message }) => said(message) },
              ]}
            />
          </ColumnChoice>
        )}
      </State>
      <ListEnd of={found} />
    </>
  );
}
