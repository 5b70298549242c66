/**
 * Owns what XML from outside must be like before a library builds a tree of it: well-formed, flat,
 * small, without a document type. Never says what it means.
 */

import { SaxesParser } from 'saxes';
import { signInLimits } from '../limits/sign-in-limits.ts';

/** Errors: a plain Error that says which bound was crossed; its text is not for clients. */
export function checkBoundedXml(xml: string): void {
  const { samlDepthMax, samlElementsMax, samlAttributesMax } = signInLimits;
  const parser = new SaxesParser({ xmlns: true });
  let depth = 0;
  let elements = 0;
  let attributes = 0;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new Error('a document type');
  });
  parser.on('processinginstruction', () => {
    throw new Error('a processing instruction');
  });
  parser.on('opentagstart', () => {
    if (++depth > samlDepthMax) throw new Error('elements too deep in each other');
    if (++elements > samlElementsMax) throw new Error('too many elements');
  });
  parser.on('attribute', () => {
    if (++attributes > samlAttributesMax) throw new Error('too many attributes');
  });
  parser.on('closetag', () => depth--);
  parser.write(xml).close();
}
