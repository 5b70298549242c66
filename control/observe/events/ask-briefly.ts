/**
 * Decides where a question is answered: on the thread of the API, in slices, as long as little work
 * is enough, as it is for most; else by the thread for long questions. Until that one has started,
 * the work here continues, so that nobody waits for a start.
 */

import { joinSignals } from '../../../base/time-limit.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import {
  answerQuestion,
  type AnswerOf,
  type EventPlaces,
  type Question,
} from './event-questions.ts';
import type { ScanClient } from './scan-client.ts';

/** Answers a question. Rejects with the error of `signal` when whoever asked is gone. */
export async function askBriefly<Q extends Question>(
  places: EventPlaces,
  thread: Pick<ScanClient, 'ready' | 'ask'>,
  question: Q,
  signal: AbortSignal | undefined,
): Promise<AnswerOf<Q>> {
  const handOver = new AbortController();
  const stop = handOver.signal;
  const either = joinSignals(signal, stop);
  let workedMs = 0;
  let long = false;
  const onSlice = (sliceMs: number): void => {
    workedMs += sliceMs;
    if (long || workedMs < observationLimits.scanHereMs) return;
    long = true;
    // A thread that does not start leaves the work here.
    thread.ready().then(
      () => handOver.abort(),
      () => undefined,
    );
  };
  try {
    return await answerQuestion(places, question, { signal: either.signal, onSlice });
  } catch (error) {
    if (!stop.aborted || signal?.aborted === true) throw error;
  } finally {
    either.end();
  }
  return thread.ask(question, signal);
}
