/**
 * One call of a model over the OpenAI-compatible wire: bounded in time, in bytes both ways and in
 * tokens, to a checked address, without redirects and without tools. Plain HTTP instead of an SDK:
 * the present SDK needs Node 22, and none lets the connection go to an address that was checked.
 */

import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isLate, startTimeLimit } from '../../base/time-limit.ts';
import { FetchError, checkedLookup } from '../access/outgoing.ts';
import type { AiSettings } from '../domain/settings/ai-settings.ts';
import { aiLimits } from '../limits/ai-limits.ts';
import type { ModelMessage } from './prompts.ts';

/** What is asked of which model. */
export interface ModelCall {
  readonly settings: AiSettings;
  readonly apiKey: string;
  readonly messages: readonly ModelMessage[];
  /** Special networks that may be asked, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  readonly signal: AbortSignal;
}

/** A piece of an answer, or the tokens that the call took. */
export type ModelPiece = { readonly text: string } | { readonly tokens: number };

/** Errors: FetchError, whose messages are ours. */
export async function* callModel(call: ModelCall): AsyncGenerator<ModelPiece> {
  const { signal, end } = startTimeLimit(call.settings.timeoutSeconds * 1000, call.signal);
  try {
    const response = await open(call, signal);
    try {
      yield* readAnswer(response);
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (error instanceof FetchError) throw error;
    call.signal.throwIfAborted();
    const { timeoutSeconds } = call.settings;
    const late = `the model took longer than ${timeoutSeconds} seconds`;
    throw failed(isLate(signal) ? late : 'the connection to the model failed', 0, error);
  } finally {
    end();
  }
}

function failed(message: string, status = 0, cause?: unknown): FetchError {
  return new FetchError('http_error', message, status, cause);
}

function urlOf({ provider, endpoint, model, apiVersion }: AiSettings): URL {
  const base = endpoint.replace(/\/+$/, '');
  if (provider === 'openai_compatible') return new URL(`${base}/chat/completions`);
  const deployment = encodeURIComponent(model);
  const path = `openai/deployments/${deployment}/chat/completions`;
  return new URL(`${base}/${path}?api-version=${encodeURIComponent(apiVersion)}`);
}

async function open(call: ModelCall, signal: AbortSignal): Promise<IncomingMessage> {
  const { settings, apiKey, messages, allowedNetworks } = call;
  const url = urlOf(settings);
  const body = JSON.stringify({
    model: settings.model,
    messages,
    max_tokens: settings.answerTokensMax,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  });
  const named = settings.provider === 'azure_openai';
  const options: RequestOptions = {
    method: 'POST',
    agent: false,
    lookup: await checkedLookup(url.hostname, allowedNetworks),
    signal,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'text/event-stream',
      'user-agent': 'waf/1',
      ...(apiKey === ''
        ? {}
        : named
          ? { 'api-key': apiKey }
          : { authorization: `Bearer ${apiKey}` }),
    },
  };
  const response = await new Promise<IncomingMessage>((done, fail) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = send(url, options, done);
    outgoing.on('error', fail);
    outgoing.end(body);
  });
  const status = response.statusCode ?? 0;
  if (status === 200) return response;
  response.destroy();
  throw failed(`the model's provider answered with status ${status}`, status);
}

async function* readAnswer(response: IncomingMessage): AsyncGenerator<ModelPiece> {
  const isStream = (response.headers['content-type'] ?? '').includes('text/event-stream');
  for await (const line of isStream ? linesOf(response) : wholeOf(response)) {
    const data = isStream ? (/^data: ?(.*)$/.exec(line)?.[1] ?? '') : line;
    if (data === '[DONE]') return;
    if (data === '') continue;
    const piece = readChunk(data);
    if (piece.text !== '') yield { text: piece.text };
    if (piece.tokens > 0) yield { tokens: piece.tokens };
  }
}

async function* piecesOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > aiLimits.answerBytesMax) {
      throw failed(`the model sent more than ${aiLimits.answerBytesMax} bytes`);
    }
    yield chunk as Buffer;
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let waiting = '';
  for await (const chunk of piecesOf(response)) {
    const lines = (waiting + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    waiting = lines.pop() ?? '';
    if (waiting.length > aiLimits.lineBytesMax) throw failed('the model sent too long a line');
    yield* lines;
  }
  yield waiting;
}

async function* wholeOf(response: IncomingMessage): AsyncGenerator<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of piecesOf(response)) chunks.push(chunk);
  yield Buffer.concat(chunks).toString();
}

type Json = Readonly<Record<string, unknown>>;

/** Errors: FetchError for what is not the wire's. */
function readChunk(data: string): { readonly text: string; readonly tokens: number } {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw failed('the model did not answer in the OpenAI-compatible form', 200, cause);
  }
  const chunk = objectOf(value);
  const choices = Array.isArray(chunk['choices']) ? (chunk['choices'] as unknown[]) : [];
  const first = objectOf(choices[0]);
  const { content } = objectOf(first['delta'] ?? first['message']);
  const tokens = objectOf(chunk['usage'])['total_tokens'];
  return {
    text: typeof content === 'string' ? content : '',
    tokens: Number.isSafeInteger(tokens) ? Number(tokens) : 0,
  };
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
