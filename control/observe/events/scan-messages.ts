/** What the thread for long questions and the one that asks it tell each other. */

import type { Question } from './event-questions.ts';

/** To the thread. */
export type ToScanThread =
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'close' };

/** From the thread. */
export type FromScanThread =
  | { readonly type: 'ready' }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: { readonly code: string; readonly message: string };
    };
