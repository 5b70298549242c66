/** Why evidence of a request is not kept, or not tried: the API names each reason by a word. */

import { pageTexts } from '../text/text.ts';

const names = {
  expired: ['its time is over', '已过期'],
  not_kept: ['the log policy does not keep it', '日志策略不保留'],
  not_received: ['the node did not send it', '节点未发送'],
  quota: ['there was no room for it', '存储配额已满'],
  key_missing: ['its key is missing', '缺少密钥'],
  damaged: ['it is damaged', '已损坏'],
  queue_full: ['too much waited to be sent', '待发送的过多'],
  inflight_limit: ['requests that ran held too much', '处理中的请求占用过多'],
  body_off: ['the log policy keeps no bodies', '日志策略不保留请求体'],
  unavailable: ['without evidence', '无证据'],
  headers_cut: ['with cut header fields', '请求头被截断'],
  body_cut: ['with a cut body', '请求体被截断'],
  not_http: ['not HTTP', '不是 HTTP'],
  inspection_failed: ['not inspected to the end', '未能完成检测'],
} as const;

const w = pageTexts(names);
const isKnown = (lack: string): lack is keyof typeof names => Object.hasOwn(names, lack);

/** The reason in words; as it is where it is not known here. */
export const lackName = (lack: string): string => (isKnown(lack) ? w(lack) : lack);
