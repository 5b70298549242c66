/** The rate limits of a policy, or of one site under any policy: the list, and a new one. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import {
  RateLimitEndpointRecordSchema,
  RateLimitService,
  type RateLimitEndpointRecord,
} from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { useCall } from '../call.ts';
import {
  Edit,
  partsOf,
  heldBy,
  useBase,
  useOpened,
  type Field,
  type Values,
} from '../parts/edit.tsx';
import { FoldedEdit, List } from '../parts/list.tsx';
import { useHitsColumn } from '../parts/rule-hits.tsx';
import { useSiteNames } from '../parts/site-names.tsx';
import type { Column } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { exactNumber, pageTexts } from '../text/text.ts';

const limits = createClient(RateLimitService, transport);

const w = pageTexts({
  title: ['Rate limits', '频率限制'],
  path: ['Path', '路径'],
  methods: ['Methods', '方法'],
  every: ['Every method', '所有方法'],
  site: ['Site', '站点'],
  everySite: ['Every site', '所有站点'],
  rate: ['Limit', '限制'],
  perSeconds: ['{count} in {seconds} s', '{seconds} 秒内 {count} 次'],
  after: ['Then', '超出后'],
  block: ['Refuse', '拒绝'],
  ban: ['Refuse everything', '封禁'],
  challenge: ['Challenge', '验证'],
  observe: ['Only record', '仅记录'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete it?', '确定删除？'],
  none: [
    'No rate limit: a client may ask as often as it likes.',
    '没有频率限制：客户端可任意访问。',
  ],
  addLimit: ['Add a rate limit', '添加频率限制'],
  add: ['Add', '添加'],
  edit: ['Edit', '编辑'],
  close: ['Close', '关闭'],
  save: ['Save', '保存'],
  editLimit: ['Edit the rate limit at {path}', '编辑 {path} 的频率限制'],
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
  const hits = useHitsColumn(found.value?.items ?? []);
  const [opened, open] = useOpened(found.value?.items ?? []);
  return (
    <>
      <List
        of={found}
        label={w('title')}
        empty={w('none')}
        columns={[
          { title: w('path'), of: ({ pathPattern }) => pathPattern },
          { title: w('methods'), of: ({ methods }) => methods.join(', ') || w('every') },
          { title: w('rate'), by: rateOf, of: rateText },
          { title: w('after'), of: effectOf },
          ...useSiteColumn(siteId),
          hits,
          {
            title: '',
            of: ({ id }) => (
              <button type="button" onClick={() => open(id === opened?.id ? '' : id)}>
                {w(id === opened?.id ? 'close' : 'edit')}
              </button>
            ),
          },
        ]}
        remove={{
          label: w('remove'),
          ask: w('removeAsk'),
          codes: ['policy:write'],
          run: async ({ id }) => {
            await limits.deleteRateLimitEndpoint({ id });
            if (id === opened?.id) open('');
          },
        }}
      />
      {opened !== undefined && <EditLimit key={opened.id} first={opened} changed={found.reload} />}
      <FoldedEdit
        inside={siteId !== ''}
        label={w('addLimit')}
        codes={['policy:write']}
        submit={w('add')}
        fields={limitFields()}
        save={(values) =>
          limits.upsertRateLimitEndpoint({
            endpoint: limitOf(values, { policyId, siteId }),
            // One that is there already is not replaced.
            expectedUpdatedAt: timestampFromMs(0),
          })
        }
        saved={found.reload}
      />
    </>
  );
}

/** The form of a limit that is there. */
function EditLimit({
  first,
  changed,
}: {
  readonly first: RateLimitEndpointRecord;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const { id, policyId, siteId, pathPattern } = first;
  const read = async (): Promise<RateLimitEndpointRecord> => {
    const { items } = await limits.listRateLimitEndpoints({ policyId, siteId });
    // One that was deleted meanwhile is made anew by the next save.
    return items.find((one) => one.id === id) ?? create(RateLimitEndpointRecordSchema, place);
  };
  const place = { policyId, siteId };
  return (
    <Edit
      label={w('editLimit', { path: pathPattern })}
      codes={['policy:write']}
      submit={w('save')}
      base={base}
      fields={limitFields(first)}
      save={async (values) => {
        const { endpoint } = await limits.upsertRateLimitEndpoint({
          endpoint: limitOf(values, base.current),
          expectedUpdatedAt: base.current.updatedAt ?? timestampFromMs(0),
        });
        base.current = endpoint ?? base.current;
      }}
      saved={changed}
      latest={async () => {
        base.current = await read();
        return heldBy(limitFields(base.current));
      }}
    />
  );
}

/** Limits of a policy may be for one of its sites; those of a site are its own. */
function useSiteColumn(siteId: string): readonly Column<RateLimitEndpointRecord>[] {
  const nameOf = useSiteNames();
  const of = (limit: RateLimitEndpointRecord): string =>
    limit.siteId === '' ? w('everySite') : nameOf(limit.siteId);
  return siteId === '' ? [{ title: w('site'), of }] : [];
}

const rateOf = ({ requestCount, windowSeconds }: RateLimitEndpointRecord): number =>
  requestCount / windowSeconds;

function rateText({ requestCount, windowSeconds }: RateLimitEndpointRecord): string {
  return w('perSeconds', {
    count: exactNumber(requestCount),
    seconds: exactNumber(windowSeconds),
  });
}

function effectOf({ action, enforcementMode }: RateLimitEndpointRecord): string {
  if (enforcementMode === 'observe') return w('observe');
  return w(actions.find((one) => one === action) ?? 'block');
}

type ShownLimit = Pick<
  RateLimitEndpointRecord,
  | 'pathPattern'
  | 'methods'
  | 'requestCount'
  | 'windowSeconds'
  | 'action'
  | 'enforcementMode'
  | 'mitigationSeconds'
>;

const newLimit: ShownLimit = {
  ...{ pathPattern: '/', methods: [], requestCount: 100, windowSeconds: 60 },
  ...{ action: 'block', enforcementMode: 'enforce', mitigationSeconds: 60 },
};

/** What the API calls the numbers of a limit. */
const counts = {
  ...{ count: 'requestCount', seconds: 'windowSeconds', wait: 'mitigationSeconds' },
} as const;

function limitFields(held: ShownLimit = newLimit): Field[] {
  const after = held.enforcementMode === 'observe' ? 'observe' : held.action || 'block';
  const number = (name: 'count' | 'seconds' | 'wait', value: number): Field => ({
    ...{ name, api: [counts[name]], label: w(name), kind: 'number', value: String(value) },
    required: true,
  });
  return [
    {
      name: 'path',
      api: ['pathPattern'],
      label: w('path'),
      value: held.pathPattern,
      required: true,
    },
    { name: 'methods', label: w('anyMethod'), value: held.methods.join(', ') },
    number('count', held.requestCount),
    number('seconds', held.windowSeconds),
    {
      name: 'after',
      label: w('after'),
      value: after,
      choices: [...actions, 'observe' as const].map((one) => [one, w(one)] as const),
    },
    number('wait', held.mitigationSeconds),
  ];
}

/** The limit with what was entered; what the form does not show stays. */
function limitOf<T extends object>(values: Values, before: T): T & object {
  const methods = partsOf(values['methods']).map((method) => method.toUpperCase());
  const after = values['after'] ?? '';
  const held = 'action' in before ? before.action : 'block';
  return {
    ...before,
    pathPattern: values['path'] ?? '',
    methods,
    methodMode: methods.length === 0 ? 'any' : 'include',
    requestCount: Number(values['count']),
    windowSeconds: Number(values['seconds']),
    mitigationSeconds: Number(values['wait']),
    action: after === 'observe' ? held : after,
    enforcementMode: after === 'observe' ? 'observe' : 'enforce',
  };
}
