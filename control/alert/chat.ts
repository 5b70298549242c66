/** Chats: Slack, Feishu and WeCom, by the addresses that each gives to a robot. */

import { createHmac } from 'node:crypto';
import { textOf, type SendMessage } from './message.ts';
import { post, requireSuccess, SendError, type PostAnswer } from './post.ts';

/** Sends to Slack (api.slack.com/messaging/webhooks). */
export const sendSlack: SendMessage = async ({ text }, { config, bounds }) => {
  const { title, message } = text;
  const body = { text: `*${slackText(title)}*\n${slackText(message)}` };
  requireSuccess(await post(textOf(config, 'webhookUrl'), {}, JSON.stringify(body), bounds));
};

/** What Slack asks to escape; its own formatting characters lose their meaning. */
function slackText(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replace(/[*_~`]/g, '\u200b$&');
}

/** Sends to Feishu (open.feishu.cn, custom bot), signed where there is a secret. */
export const sendFeishu: SendMessage = async ({ text, nowMs }, { config, bounds }) => {
  const secret = textOf(config, 'secret');
  const seconds = String(Math.floor(nowMs / 1000));
  const body = {
    ...(secret === '' ? {} : { timestamp: seconds, sign: feishuSign(secret, seconds) }),
    msg_type: 'text',
    // Feishu reads tags such as <at> in a text.
    content: { text: `${text.title}\n${text.message}`.replaceAll('<', '＜') },
  };
  const url = textOf(config, 'webhookUrl');
  requireCode(await post(url, {}, JSON.stringify(body), bounds), ['code', 'StatusCode'], [11232]);
};

/** The time and the secret are the key; what is signed is empty. */
function feishuSign(secret: string, seconds: string): string {
  return createHmac('sha256', `${seconds}\n${secret}`).update('').digest('base64');
}

/** Bytes of one markdown text that WeCom takes. */
const wecomBytesMax = 4096;

/** Sends to WeCom (developer.work.weixin.qq.com, group robot). */
export const sendWecom: SendMessage = async ({ text }, { config, bounds }) => {
  const content = cutBytes(text.markdown, wecomBytesMax);
  const body = JSON.stringify({ msgtype: 'markdown', markdown: { content } });
  const url = textOf(config, 'webhookUrl');
  requireCode(await post(url, {}, body, bounds), ['errcode'], [-1, 45_009]);
};

/** Both answer 200 to everything; a code in the answer says how it went. */
function requireCode(
  answer: PostAnswer,
  names: readonly string[],
  retried: readonly number[],
): void {
  requireSuccess(answer);
  const json = parse(answer.text);
  const code = names.map((name) => json[name]).find((one) => typeof one === 'number');
  if (code === 0) return;
  if (code === undefined) throw new SendError('its answer has no result code', true);
  throw new SendError(`it refused the message with code ${code}`, retried.includes(code));
}

function parse(text: string): Readonly<Record<string, number | undefined>> {
  try {
    const json = JSON.parse(text) as unknown;
    return typeof json === 'object' && json !== null ? (json as Record<string, number>) : {};
  } catch {
    return {};
  }
}

function cutBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  // Decoding marks a character that was cut in two.
  return (
    bytes
      .subarray(0, bytesMax - 3)
      .toString('utf8')
      .replace(/\ufffd+$/, '') + '…'
  );
}
