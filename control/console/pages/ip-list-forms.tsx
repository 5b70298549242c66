/** New address lists: made by hand, at once with what they do on all sites, or from a feed. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { IpListService } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { partsOf } from '../parts/edit.tsx';
import { inList } from '../parts/in-list.ts';
import { FoldedEdit } from '../parts/list.tsx';
import { MadeOnce } from '../parts/made-once.ts';
import { refusalText } from '../parts/refusal.ts';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { acting, effectChoices } from './ip-list-effects.ts';

const lists = createClient(IpListService, transport);

const w = pageTexts({
  name: ['Name', '名称'],
  create: ['Make a list', '创建名单'],
  addresses: ['Addresses or networks, one a line', '地址或网段，每行一个'],
  allSites: ['On all sites', '在所有站点'],
  noEffect: ['Nothing yet', '暂不生效'],
  half: [
    'The list “{name}” was made, but acts nowhere yet. Submit again to try only that part. Reason: {reason}',
    '名单“{name}”已创建，但尚未生效。再次提交时仅重试生效这一步。原因：{reason}',
  ],
  feed: ['Subscribe to a feed', '订阅名单源'],
  url: ['Address of the feed', '名单源地址'],
  subscribe: ['Subscribe', '订阅'],
});

interface FormProps {
  readonly changed: () => void;
}

/** Makes a list, then has it act: two calls, of which the second can fail alone. */
export function NewList({ changed }: FormProps): JSX.Element {
  const { current: made } = useRef(new MadeOnce());
  const make = async (name: string, addresses: string): Promise<string> => {
    const entries = partsOf(addresses).map((value) => ({ value }));
    const { ipList } = await lists.createIpList({ ipList: { name, entries } });
    return ipList?.id ?? '';
  };
  const bind = async (name: string, ipListId: string, effect: string): Promise<void> => {
    const binding = { ipListId, ...acting(effect), ...inList };
    await lists.upsertGlobalIpListBinding({ binding }).catch((thrown: unknown) => {
      throw new Error(w('half', { name, reason: refusalText(thrown) }), { cause: thrown });
    });
  };
  return (
    <FoldedEdit
      label={w('create')}
      codes={['policy:iplist:write']}
      submit={w('create')}
      fields={[
        { name: 'name', label: w('name'), required: true },
        {
          name: 'addresses',
          api: ['entries', 'value', 'values'],
          label: w('addresses'),
          kind: 'area',
        },
        {
          ...{ name: 'effect', label: w('allSites'), value: '' },
          choices: [['', w('noEffect')], ...effectChoices()],
        },
      ]}
      save={async ({ name = '', addresses = '', effect = '' }) => {
        try {
          const id = await made.id([name, addresses], () => make(name, addresses));
          if (effect !== '') await bind(name, id, effect);
          made.used();
        } finally {
          // The list is there also where it does not act, or where the answer was lost.
          changed();
        }
      }}
    />
  );
}

/** Makes a list that a feed fills. */
export function Subscribe({ changed }: FormProps): JSX.Element {
  return (
    <FoldedEdit
      label={w('feed')}
      codes={['policy:iplist:source:write']}
      submit={w('subscribe')}
      fields={[
        { name: 'name', label: w('name'), required: true },
        { name: 'url', label: w('url'), required: true },
      ]}
      save={({ name = '', url = '' }) =>
        lists.createIpListSubscription({
          name,
          source: { url, format: 'text' },
          syncNow: true,
        })
      }
      saved={changed}
    />
  );
}
