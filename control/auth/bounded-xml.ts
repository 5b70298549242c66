/**
 * What XML from outside must be like before a library builds a tree of it: well-formed, flat,
 * small, without a document type. Never says what it means.
 */

import { XmlSyntax, type XmlBound } from '../../base/xml-syntax.ts';
import { signInLimits } from '../limits/sign-in-limits.ts';

/** Errors: a plain Error that says which bound was crossed; its text is not for clients. */
export function checkBoundedXml(xml: string): void {
  new BoundedXml().check(Buffer.from(xml));
}

/** What a bound that is crossed is called. */
const crossed: Readonly<Record<XmlBound, string>> = {
  elements: 'too many elements',
  depth: 'elements too deep in each other',
  attributes: 'too many attributes',
};

class BoundedXml extends XmlSyntax {
  constructor() {
    super({
      elementsMax: signInLimits.samlElementsMax,
      depthMax: signInLimits.samlDepthMax,
      attributesMax: signInLimits.samlAttributesMax,
    });
  }

  check(bytes: Uint8Array): void {
    // The reader writes text and attribute values after the document.
    const slab = new Uint8Array(3 * bytes.length);
    slab.set(bytes);
    this.readSyntax(slab, [0, bytes.length], bytes.length, false);
  }

  protected fault(): void {
    throw new Error('not well-formed');
  }

  protected reach(bound: XmlBound): void {
    throw new Error(crossed[bound]);
  }

  protected meetDoctype(): void {
    throw new Error('a document type');
  }

  protected meetInstruction(isDeclaration: boolean): void {
    if (!isDeclaration) throw new Error('a processing instruction');
  }

  protected openElement(): void {}

  protected addAttribute(): void {}

  protected closeElements(): void {}

  protected noteOutside(): void {}
}
