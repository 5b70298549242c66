/** How much of a request's body a policy inspects, and what becomes of longer ones. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import {
  PolicyService,
  RequestBodyExcessAction,
  RequestBodyLimitAction,
  type BodyInspection,
  type Policy,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { useCall } from '../call.ts';
import { Edit, heldBy, useBase, type Field, type Values } from '../parts/edit.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { transport } from '../session.ts';
import { exactNumber, pageTexts } from '../text/text.ts';

const policies = createClient(PolicyService, transport);

const w = pageTexts({
  title: ['Bodies of requests', '请求正文'],
  note: ['For all sites of the policy {policy}.', '适用于策略 {policy} 的所有站点。'],
  limit: ['Bytes that are always inspected', '始终检测的字节数'],
  past: ['A longer body', '更长的正文'],
  refused: ['Is refused with 413', '以 413 拒绝'],
  records: ['Is forwarded; matches after the limit are recorded', '继续转发；超限部分的匹配仅记录'],
  blocks: ['Is forwarded; matches after the limit block', '继续转发；超限部分的匹配会拦截'],
  forwarded: ['Is forwarded; nothing after the limit is inspected', '继续转发；超限部分不检测'],
  refusedText: [
    'The first {limit} bytes are inspected. A longer body gets 413; uploads of files may have {upload} bytes.',
    '检测前 {limit} 字节。更长的正文返回 413；文件上传可达 {upload} 字节。',
  ],
  forwardedText: [
    'The first {limit} bytes are inspected; what follows is forwarded uninspected.',
    '检测前 {limit} 字节，其余内容不检测即转发。',
  ],
  recordsText: [
    'The first {limit} bytes are inspected; what is found after them, up to byte {inspected}, is recorded and not blocked.',
    '检测前 {limit} 字节；其后至第 {inspected} 字节的匹配仅记录，不拦截。',
  ],
  blocksText: [
    'The first {limit} bytes are inspected; what is found after them, up to byte {inspected}, still blocks.',
    '检测前 {limit} 字节；其后至第 {inspected} 字节的匹配仍会拦截。',
  ],
  save: ['Save', '保存'],
  saved: ['Saved. Compiling rules…', '已保存，正在编译规则…'],
});

/** The form for the policy with this id. */
export function BodyLimits({ policyId }: { readonly policyId: string }): JSX.Element {
  const found = useCall(policyId, (signal) => policies.getPolicy({ id: policyId }, { signal }));
  return (
    <State of={found}>
      {({ policy, bodyInspection }) =>
        policy !== undefined &&
        bodyInspection !== undefined && (
          <Card title={w('title')} note={w('note', { policy: policy.name })}>
            <p>{sentenceOf(bodyInspection)}</p>
            <Limits first={{ policy, bodyInspection }} changed={found.reload} />
          </Card>
        )
      }
    </State>
  );
}

interface Held {
  readonly policy: Policy;
  readonly bodyInspection: BodyInspection;
}

/** What `bodyInspection.past` says, and the setting that it shows. */
const excessOf = {
  refused: RequestBodyExcessAction.UNSPECIFIED,
  records: RequestBodyExcessAction.RECORD,
  blocks: RequestBodyExcessAction.BLOCK,
  forwarded: RequestBodyExcessAction.OFF,
} as const;
type Past = keyof typeof excessOf;
const pasts = Object.keys(excessOf) as Past[];

/** The numbers as a sentence in the language of the page. */
function sentenceOf({ past, limitBytes, uploadBytes, inspectedBytes }: BodyInspection): string {
  const known = pasts.find((one) => one === past) ?? 'refused';
  return w(`${known}Text`, {
    limit: exactNumber(limitBytes),
    upload: exactNumber(uploadBytes),
    inspected: exactNumber(inspectedBytes),
  });
}

function fieldsOf({ bodyInspection: { limitBytes, past } }: Held): Field[] {
  return [
    { name: 'limit', label: w('limit'), kind: 'number', value: String(limitBytes), required: true },
    {
      name: 'past',
      label: w('past'),
      value: past,
      choices: pasts.map((one) => [one, w(one)] as const),
    },
  ];
}

function Limits({
  first,
  changed,
}: {
  readonly first: Held;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const read = async (): Promise<Values> => {
    const { policy, bodyInspection } = await policies.getPolicy({ id: first.policy.id });
    if (policy !== undefined && bodyInspection !== undefined) {
      base.current = { policy, bodyInspection };
    }
    return heldBy(fieldsOf(base.current));
  };
  const save = async ({ limit, past }: Values): Promise<void> => {
    const { policy } = base.current;
    const saved = await policies.updatePolicy({
      policy: {
        ...policy,
        crsCore: {
          ...policy.crsCore!,
          requestBodyLimit: BigInt(limit ?? ''),
          requestBodyLimitEnabled: true,
          requestBodyLimitAction:
            past === 'refused' ? RequestBodyLimitAction.BLOCK : RequestBodyLimitAction.OBSERVE,
          requestBodyExcessAction: excessOf[past as Past],
        },
      },
      revision: policy.revision,
      updateMask: 'crs_core',
    });
    if (saved.policy !== undefined) base.current = { ...base.current, policy: saved.policy };
  };
  return (
    <Edit
      label={w('title')}
      codes={['policy:write']}
      submit={w('save')}
      done={w('saved')}
      base={base}
      fields={fieldsOf(first)}
      save={save}
      saved={changed}
      latest={read}
      apart
    />
  );
}
