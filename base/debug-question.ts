/**
 * What people who look for a fault may ask, at control and, through it, at the engine. Pure: reads
 * the address of a question.
 */

import { debugLimits } from './debug-figures.ts';

/** What can be asked about. */
export const debugSubjects = [
  'threads',
  'event-loop',
  'memory',
  'generations',
  'databases',
  'queues',
  'profile',
] as const;

/** One of them. */
export type DebugSubject = (typeof debugSubjects)[number];

/** A question. */
export interface DebugQuestion {
  readonly about: DebugSubject;
  /** How long is measured. */
  readonly seconds: number;
  /** Of a profile: main, or front-0 and so on. */
  readonly thread: string;
}

/** Answers a question; undefined for a subject that is not known. */
export type DebugAnswerer = (question: DebugQuestion) => Promise<unknown>;

/** The question of a path such as `/debug/profile?seconds=5`; a text says what is wrong with it. */
export function readDebugQuestion(
  path: string,
  known: readonly string[] = ['seconds', 'thread'],
): DebugQuestion | string {
  const [place = '', query = ''] = path.split('?', 2);
  const about = debugSubjects.find((one) => place === `/debug/${one}`);
  if (about === undefined) return `Unknown subject. Known: ${debugSubjects.join(', ')}.`;
  const values = new URLSearchParams(query);
  if ([...values.keys()].some((name) => !known.includes(name))) {
    return `Unknown parameter. Allowed: ${known.join(', ')}.`;
  }
  const asked = values.get('seconds') ?? (about === 'profile' ? '5' : '1');
  const seconds = /^\d{1,3}$/.test(asked) ? Number(asked) : 0;
  const { secondsMax } = debugLimits;
  if (seconds < 1 || seconds > secondsMax) return `seconds: must be 1 to ${secondsMax}`;
  const thread = values.get('thread') ?? 'main';
  if (!/^(?:main|front-\d{1,4})$/.test(thread))
    return 'thread: use main, front-0, front-1 and so on';
  return { about, seconds, thread };
}
