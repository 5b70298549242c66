/** Owns the rate limits of a policy, or of one site under any policy: the list, and a new one. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import {
  RateLimitService,
  type RateLimitEndpointRecord,
} from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { useCall } from '../call.ts';
import { partsOf, type Field, type Values } from '../parts/edit.tsx';
import { FoldedEdit, List } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { exactNumber, pageTexts } from '../text/text.ts';

const limits = createClient(RateLimitService, transport);

const w = pageTexts({
  title: ['Rate limits', '频率限制'],
  path: ['Path', '路径'],
  methods: ['Methods', '方法'],
  every: ['every method', '所有方法'],
  site: ['Site', '站点'],
  everySite: ['every site', '所有站点'],
  rate: ['Limit', '限制'],
  perSeconds: ['{count} in {seconds} s', '{seconds} 秒内 {count} 次'],
  after: ['Then', '超出后'],
  block: ['refuse', '拒绝'],
  ban: ['refuse everything', '封禁'],
  challenge: ['challenge', '验证'],
  observe: ['only record', '仅记录'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete it?', '确定删除？'],
  none: [
    'No rate limit: a client may ask as often as it likes.',
    '没有频率限制：客户端可任意访问。',
  ],
  addLimit: ['Add a rate limit', '添加频率限制'],
  add: ['Add', '添加'],
  anyMethod: ['Methods, empty for all', '方法，留空为全部'],
  count: ['Requests', '请求数'],
  seconds: ['In seconds', '时间窗口（秒）'],
  wait: ['Refuse for seconds', '拒绝时长（秒）'],
});

const actions = ['block', 'ban', 'challenge'] as const;

/** The list with its form; one of the ids is ''. */
export function RateLimits({
  policyId,
  siteId,
}: {
  readonly policyId: string;
  readonly siteId: string;
}): JSX.Element {
  const found = useCall(`${policyId} ${siteId}`, (signal) =>
    limits.listRateLimitEndpoints({ policyId, siteId }, { signal }),
  );
  return (
    <>
      <List
        of={found}
        label={w('title')}
        empty={w('none')}
        columns={[
          { title: w('path'), of: ({ pathPattern }) => pathPattern },
          { title: w('methods'), of: ({ methods }) => methods.join(', ') || w('every') },
          {
            title: w('rate'),
            of: ({ requestCount, windowSeconds }) =>
              w('perSeconds', {
                count: exactNumber(requestCount),
                seconds: exactNumber(windowSeconds),
              }),
          },
          { title: w('after'), of: effectOf },
          ...(siteId === '' ? [siteColumn()] : []),
        ]}
        remove={{
          label: w('remove'),
          ask: w('removeAsk'),
          codes: ['policy:write'],
          run: ({ id }) => limits.deleteRateLimitEndpoint({ id }),
        }}
      />
      <FoldedEdit
        inside={siteId !== ''}
        label={w('addLimit')}
        codes={['policy:write']}
        submit={w('add')}
        fields={limitFields()}
        save={(values) =>
          limits.upsertRateLimitEndpoint({
            endpoint: limitOf(values, policyId, siteId),
            // One that is there already is not replaced.
            expectedUpdatedAt: timestampFromMs(0),
          })
        }
        saved={found.reload}
      />
    </>
  );
}

/** Limits of a policy may be for one of its sites. */
const siteColumn = (): Column<RateLimitEndpointRecord> => ({
  title: w('site'),
  of: ({ siteId }) => siteId || w('everySite'),
});

function effectOf({ action, enforcementMode }: RateLimitEndpointRecord): string {
  if (enforcementMode === 'observe') return w('observe');
  return w(actions.find((one) => one === action) ?? 'block');
}

function limitFields(): Field[] {
  return [
    { name: 'path', label: w('path'), value: '/', required: true },
    { name: 'methods', label: w('anyMethod') },
    { name: 'count', label: w('count'), kind: 'number', value: '100', required: true },
    { name: 'seconds', label: w('seconds'), kind: 'number', value: '60', required: true },
    {
      name: 'after',
      label: w('after'),
      value: 'block',
      choices: [...actions, 'observe' as const].map((one) => [one, w(one)] as const),
    },
    { name: 'wait', label: w('wait'), kind: 'number', value: '60', required: true },
  ];
}

function limitOf(values: Values, policyId: string, siteId: string): object {
  const methods = partsOf(values['methods']).map((method) => method.toUpperCase());
  const after = values['after'] ?? '';
  return {
    policyId,
    siteId,
    pathPattern: values['path'] ?? '',
    methods,
    methodMode: methods.length === 0 ? 'any' : 'include',
    requestCount: Number(values['count']),
    windowSeconds: Number(values['seconds']),
    mitigationSeconds: Number(values['wait']),
    action: after === 'observe' ? 'block' : after,
    enforcementMode: after === 'observe' ? 'observe' : 'enforce',
  };
}
