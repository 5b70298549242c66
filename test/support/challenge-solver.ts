/** Solves challenges for tests, as a browser would. */

import type { GuardVerdict } from '../../engine/contract/guard.ts';
import { provesWork } from '../../engine/guard/bot/proof-of-work.ts';

/** What a page of a challenge asks. */
export interface AskedProof {
  readonly id: string;
  readonly bits: number;
  readonly token: string;
  readonly text: string;
}

/** Reads a page. Throws where a verdict has none. */
export function readPage(verdict: GuardVerdict | null): AskedProof {
  return readPageText(verdict?.page?.body.toString('utf8') ?? '');
}

/** Reads the text of a page. Throws where it is no challenge. */
export function readPageText(text: string): AskedProof {
  const id = /data-id="([0-9a-f]{32})"/.exec(text)?.[1];
  const bits = /data-bits="(\d+)"/.exec(text)?.[1];
  const token = /(?:token=|name="token" value=")([\w-]+)/.exec(text)?.[1];
  if (id === undefined || bits === undefined || token === undefined) {
    throw new Error(`no challenge in ${text.slice(0, 200)}`);
  }
  return { id, bits: Number(bits), token, text };
}

/** The first number that proves the work. */
export function solve({ id, bits }: Pick<AskedProof, 'id' | 'bits'>): string {
  for (let nonce = 0; ; nonce++) if (provesWork(id, String(nonce), bits)) return String(nonce);
}

/** The sum that a page for people asks for, in English. */
export function answerOf({ text }: AskedProof): string {
  const asked = /How much is (\w+) plus (\w+)\?/.exec(text);
  if (asked === null) throw new Error('no question');
  const words = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
  return String(words.indexOf(asked[1]!) + words.indexOf(asked[2]!) + 4);
}

/** The cookie that an answer sets, as a client sends it back; '' for none. */
export function cookieOf(verdict: GuardVerdict | null): string {
  const set = verdict?.headers?.find(([name]) => name === 'Set-Cookie')?.[1] ?? '';
  return set.split(';', 1)[0]!;
}
