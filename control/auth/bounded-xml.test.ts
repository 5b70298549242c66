/** What is no XML that a library may build a tree of, and what is. */

import { expect, test } from 'vitest';
import { signInLimits } from '../limits/sign-in-limits.ts';
import { checkBoundedXml } from './bounded-xml.ts';

const nested = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth);
const siblings = (count: number): string => `<r>${'<a/>'.repeat(count)}</r>`;
const attributes = (count: number): string =>
  `<r>${Array.from({ length: count }, (_, at) => `<a b${at}="1"/>`).join('')}</r>`;
const { samlDepthMax, samlElementsMax, samlAttributesMax } = signInLimits;

test.each([
  '<a/>',
  '<?xml version="1.0" encoding="UTF-8"?>\n<a b="&lt;&#x41;">é<![CDATA[<]]><!-- c --></a>\n',
  nested(samlDepthMax),
  siblings(samlElementsMax - 1),
  attributes(Math.min(samlAttributesMax, samlElementsMax - 1)),
])('a sound document passes (%#)', (xml) => {
  expect(() => checkBoundedXml(xml)).not.toThrow();
});

test.each([
  ['a document type', '<!DOCTYPE a><a/>'],
  ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
  ['a processing instruction', '<a><?php x?></a>'],
  ['elements too deep in each other', nested(samlDepthMax + 1)],
  ['too many elements', siblings(samlElementsMax)],
  ['not well-formed', ''],
  ['not well-formed', 'text'],
  ['not well-formed', '<a>'],
  ['not well-formed', '<a></b></a>'],
  ['not well-formed', '<a/><b/>'],
  ['not well-formed', '<a>&b;</a>'],
  ['not well-formed', '<a b="1" b="2"/>'],
  ['not well-formed', '<a b=1/>'],
  ['not well-formed', '<a>\u0001</a>'],
  ['not well-formed', '<a><?xml version="1.0"?></a>'],
])('%s is refused (%#)', (reason, xml) => {
  expect(() => checkBoundedXml(xml)).toThrow(reason);
});
