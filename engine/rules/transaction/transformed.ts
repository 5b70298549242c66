/**
 * What transformations made of the long values of one transaction: rules that match the same value
 * mostly share the beginnings of their chains. Holds results alone; who asks decides which value.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { TransformationDefinition } from './types.ts';

/** A text, and what the transformations that were asked for make of it. */
interface Made {
  readonly text: ByteString;
  next: Map<TransformationDefinition, Made> | null;
}

/** Bounded by `transformedBytesMax`: past it nothing more is kept. */
export class TransformedTexts {
  private texts = new Map<number, Made>();
  private bytes = 0;

  /**
   * What `chain` makes of `text`. `place` only says where to look: texts that share one share what
   * is kept in turn.
   */
  apply(place: number, text: ByteString, chain: readonly TransformationDefinition[]): ByteString {
    let made = this.texts.get(place);
    if (made === undefined || made.text !== text) this.texts.set(place, (made = start(text)));
    for (const step of chain) made = this.step(made, step);
    return made.text;
  }

  forget(): void {
    if (this.texts.size > 0) this.texts = new Map();
    this.bytes = 0;
  }

  private step(from: Made, transformation: TransformationDefinition): Made {
    const known = from.next?.get(transformation);
    if (known !== undefined) return known;
    const text = transformation.apply(from.text);
    // Transformations that change nothing lead to the same work again.
    const made = text === from.text ? from : start(text);
    const more = made === from ? 0 : text.length;
    if (this.bytes + more > ruleRunLimits.transformedBytesMax) return made;
    this.bytes += more;
    from.next ??= new Map();
    from.next.set(transformation, made);
    return made;
  }
}

function start(text: ByteString): Made {
  return { text, next: null };
}
