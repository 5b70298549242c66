/** The list of a site's times by path: what it shows, asks for, and makes of what was entered. */

import { create } from '@bufbuild/protobuf';
import { TimeoutRuleSchema } from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { exactNumber, pageTexts } from '../text/text.ts';
import type { DeliveryKind } from './delivery-list.tsx';

const w = pageTexts({
  title: ['Times by path', '按路径设置超时'],
  note: [
    'In milliseconds. 0 leaves a time to a shorter prefix, then to the node.',
    '以毫秒计。0 表示沿用更短前缀的值，其次为节点的值。',
  ],
  empty: ['The times of the node count.', '使用节点的超时。'],
  add: ['Set times', '设置超时'],
  path: ['Path prefix', '路径前缀'],
  pathHint: ['/ for all paths', '/ 表示所有路径'],
  times: ['Times', '超时'],
  bodyPauseMs: ['Pause of a request body', '请求正文的停顿'],
  sendPauseMs: ['Pause of the client while it is answered', '客户端接收响应的停顿'],
  originConnectMs: ['Connection to the origin', '连接源站'],
  originAnswerMs: ["Wait for the origin's answer", '等待源站响应'],
  originPauseMs: ["Pause of the origin's answer", '源站响应的停顿'],
  totalMs: ['Whole request', '整个请求'],
  keepAliveMs: ['Wait for the next request', '等待下一个请求'],
  websocketPauseMs: ['Silence of a WebSocket', 'WebSocket 空闲'],
});

const names = [
  'bodyPauseMs',
  'sendPauseMs',
  'originConnectMs',
  'originAnswerMs',
  'originPauseMs',
  'totalMs',
  'keepAliveMs',
  'websocketPauseMs',
] as const;

/** Times by path. */
export function timeouts(): DeliveryKind<'timeouts'> {
  return {
    name: 'timeouts',
    title: w('title'),
    note: w('note'),
    empty: w('empty'),
    add: w('add'),
    columns: [
      { title: w('path'), of: ({ pathPrefix }) => pathPrefix },
      {
        title: w('times'),
        of: (rule) =>
          names
            .filter((name) => rule[name] !== 0)
            .map((name) => `${w(name)}: ${exactNumber(rule[name])} ms`)
            .join('; '),
      },
    ],
    fields: (entry = create(TimeoutRuleSchema)) => [
      {
        ...{ name: 'prefix', api: ['pathPrefix'], label: w('path'), hint: w('pathHint') },
        ...{ value: entry.pathPrefix || '/', required: true },
      },
      ...names.map((name) => ({
        ...{ name, label: w(name), kind: 'number' as const },
        value: String(entry[name]),
      })),
    ],
    entered: ({ prefix = '', ...values }, before) => {
      const rule = { ...(before ?? create(TimeoutRuleSchema)), pathPrefix: prefix };
      for (const name of names) rule[name] = Number(values[name]);
      return rule;
    },
  };
}
