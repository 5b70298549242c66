/** How much of an XML body is read, and what its limits are called. */

import { valueLimits } from '../../../../base/rule-limits.ts';
import type { XmlBound, XmlBounds } from '../../../../base/xml-syntax.ts';
import type { InspectionLimitName } from '../../transaction/inspection-limits.ts';

/** The bounds of one XML body. */
export const xmlBodyBounds: XmlBounds = {
  elementsMax: valueLimits.xmlElementsMax,
  depthMax: valueLimits.xmlDepthMax,
  attributesMax: valueLimits.xmlAttributesMax,
};

/** The limit that a bound is, and the reason that REQBODY_ERROR_MSG gives. */
export const xmlLimitOf: Readonly<
  Record<XmlBound, readonly [limit: InspectionLimitName, reason: string]>
> = {
  elements: ['xml-elements', 'XML: too many elements'],
  depth: ['xml-depth', 'XML: nesting too deep'],
  attributes: ['xml-attributes', 'XML: too many attributes'],
};

/** `xmlns` and `xmlns:...` are no attributes to XPath. */
export function isNamespaceDeclaration(slab: Uint8Array, start: number, end: number): boolean {
  const text = 'xmlns';
  if (end - start < 5) return false;
  for (let i = 0; i < 5; i++) if (slab[start + i] !== text.charCodeAt(i)) return false;
  return end - start === 5 || slab[start + 5] === 0x3a;
}
