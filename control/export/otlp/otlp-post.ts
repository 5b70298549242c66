/** Sends one request by OTLP over HTTP, in JSON. Source: OTLP 1.x, "OTLP/HTTP". */

import { startTimeLimit } from '../../../base/time-limit.ts';
import { otlpLimits } from '../../limits/otlp-limits.ts';
import type { OtlpTarget } from './otlp-settings.ts';

/** What became of a request; `rejected`: how many the collector refused of those it took. */
export type PostResult =
  | { readonly state: 'taken'; readonly rejected: number }
  | { readonly state: 'refused' | 'busy'; readonly problem: string; readonly waitMs: number };

/** Sends it. Never rejects: a collector that cannot be reached is busy. */
export async function postOtlp(
  { url, headers, timeoutMs }: OtlpTarget,
  body: object,
  ending: AbortSignal,
): Promise<PostResult> {
  const limit = startTimeLimit(timeoutMs, ending);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: limit.signal,
    });
    const text = await readAnswer(response);
    if (response.ok) return { state: 'taken', rejected: rejectedOf(text) };
    const problem = `the collector answered with status ${response.status}`;
    const state = [429, 502, 503, 504].includes(response.status) ? 'busy' : 'refused';
    return { state, problem, waitMs: waitOf(response.headers.get('retry-after')) };
  } catch (error) {
    const late = error instanceof DOMException && error.name === 'TimeoutError';
    const problem = late
      ? `the collector did not answer in ${timeoutMs} ms`
      : 'the collector cannot be reached';
    return { state: 'busy', problem, waitMs: 0 };
  } finally {
    limit.end();
  }
}

/** As much of an answer as may matter; the rest is not read. */
async function readAnswer(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { value, done } = (await reader.read()) as { value?: Uint8Array; done: boolean };
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    if (text.length < otlpLimits.answerCharactersMax) continue;
    await reader.cancel();
    return text;
  }
}

function rejectedOf(text: string): number {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // An answer without this says that all were taken.
    return 0;
  }
  const { partialSuccess = {} } = (answer ?? {}) as {
    readonly partialSuccess?: Readonly<Record<string, unknown>> | null;
  };
  const rejected = partialSuccess?.['rejectedLogRecords'] ?? partialSuccess?.['rejectedSpans'];
  const count = Number(rejected ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

function waitOf(retryAfter: string | null): number {
  return retryAfter !== null && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) * 1000 : 0;
}
