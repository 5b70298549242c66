/** Tests what the reader of XML does for end tags that match nothing: bounded, and no gap after. */

import { expect, test } from 'vitest';
import { strayStepsMax, XmlSyntax } from './xml-syntax.ts';

class Reader extends XmlSyntax {
  faults = 0;
  values: string[] = [];

  constructor() {
    super({ elementsMax: 50_000, depthMax: 256, attributesMax: 10_000 });
  }

  read(text: string): { steps: number; text: string } {
    const bytes = Buffer.from(text);
    const slab = Buffer.alloc(3 * bytes.length);
    slab.set(bytes);
    this.readSyntax(slab, [0, bytes.length], bytes.length, false);
    return { steps: this.straySteps, text: slab.toString('latin1', this.textStart, this.textEnd) };
  }

  protected fault(): void {
    this.faults++;
  }

  protected addAttribute(_name: number, _nameEnd: number, from: number, to: number): void {
    this.values.push(Buffer.from(this.slab.subarray(from, to)).toString('latin1'));
  }

  protected reach(): void {}
  protected openElement(): void {}
  protected closeElements(): void {}
  protected meetInstruction(): void {}
  protected meetDoctype(): void {}
  protected noteOutside(): void {}
}

const rest = '<c d="value">text</c>';

test.each([
  ['of one name', '<a>'.repeat(255), '</b>'.repeat(12_000)],
  [
    'of other names',
    Array.from({ length: 255 }, (_, i) => `<a${i}>`).join(''),
    '</b>'.repeat(9_000),
  ],
  ['that close the outermost but one', '<a><b>' + '<c>'.repeat(253), '</b><b>'.repeat(5_000)],
])(
  'end tags without an element %s cost a bounded search, and hide nothing',
  (_says, open, close) => {
    const reader = new Reader();
    const { steps, text } = reader.read(`${open}${close}${rest}`);
    expect(steps).toBeLessThanOrEqual(strayStepsMax);
    expect(reader.faults).toBeGreaterThan(0);
    expect(text).toContain('text');
    expect(reader.values).toContain('value');
  },
);

test('an end tag of an outer element closes what is within', () => {
  const reader = new Reader();
  const { steps, text } = reader.read('<a><b><c>x</b>y</a>z');
  expect({ steps, text }).toEqual({ steps: 1, text: 'xy' });
});
