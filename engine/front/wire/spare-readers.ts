/**
 * Keeps the readers of a finished request for the next one, where each request has readers of its
 * own: their tables lie outside of the heap and cost more to make than to fill.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';
import type { HeadLimits } from '../../http/head-scanner.ts';
import { RequestHeadParser } from '../../http/request-head.ts';
import { AnswerReader } from './answer-reader.ts';

/** What reads the head of one request, and its answer off our own wire bytes. */
export interface Readers {
  readonly parser: RequestHeadParser;
  readonly answer: AnswerReader;
}

/** The readers of one thread that nobody uses. */
export class SpareReaders {
  private readonly limits: HeadLimits;
  private readonly spare: Readers[] = [];

  constructor(limits: HeadLimits) {
    this.limits = limits;
  }

  /**
   * Readers that know of no message; `http2` as in `RequestHeadParser`. `websocket`: the request
   * may open one, and its answer does by status 101.
   */
  take(http2: boolean, websocket: boolean): Readers {
    const { parser, answer } = this.spare.pop() ?? {
      parser: new RequestHeadParser(this.limits),
      answer: new AnswerReader(),
    };
    parser.http2 = http2;
    parser.mayUpgrade = websocket;
    parser.reset(0);
    answer.reset(websocket);
    return { parser, answer };
  }

  /** Takes readers back; nothing may look at them after. */
  give(readers: Readers): void {
    if (this.spare.length < frontLimits.spareReadersMax) this.spare.push(readers);
  }
}
