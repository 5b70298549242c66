/** Rows on bodies: the attributes of XML where they are inspected, and whether text is UTF-8. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import {
  formType,
  inspectedBy,
  jsonType,
  policyCalls,
  policyChange,
  siteCall,
} from './chain-row.ts';

const passed: ChainExpected = { status: 200, origin: 'a' };
const sqli = "1' OR '1'='1";

const xml = (body: string, type = 'text/xml'): ChainRequest => ({
  ...{ method: 'POST', headers: { 'content-type': type }, body },
});

type Told = readonly [says: string, request: ChainRequest, inspected: boolean];

/** What stands in attributes; `inspected`: an attack in it is found where they are. */
const attributes: readonly Told[] = [
  ['an attribute', xml(`<a id="${sqli}">x</a>`), true],
  ['an attribute of an inner element', xml(`<a><b><c id="${sqli}"/></b></a>`), true],
  ['an attribute in single quotes', xml('<a id=\'1" OR "1"="1\'>x</a>'), true],
  ['an attribute with references', xml('<a id="1&#39; OR &#39;1&#39;=&#39;1">x</a>'), true],
  ['an attribute with a prefix', xml(`<a xmlns:p="urn:p" p:id="${sqli}">x</a>`), true],
  ['an attribute beside others', xml(`<a x="1" id="${sqli}" y="2">x</a>`), true],
  ['under application/xml', xml(`<a id="${sqli}"/>`, 'application/xml'), true],
  ['under application/soap+xml', xml(`<a id="${sqli}"/>`, 'application/soap+xml'), true],
  ['a plain attribute', xml('<a id="1">x</a>'), false],
  ['no attribute', xml('<a>x</a>'), false],
];

const attributeRows = attributes.flatMap(([says, request, inspected]): ChainRow[] => [
  {
    ...{ says: `crsXmlAttributeInspection true: ${says}`, site: 'xml-on', request },
    expected: inspected ? { status: 403, with: [942_100] } : { ...passed, without: [942_100] },
  },
  {
    ...{ says: `crsXmlAttributeInspection false: ${says}`, site: 'xml-off', request },
    expected: { ...passed, without: [942_100] },
  },
]);

const contentRows = ['xml-on', 'xml-off'].map((site): ChainRow => ({
  says: `Content of elements is inspected either way, ${site}`,
  ...{ site, request: xml(`<a>${sqli}</a>`), expected: { status: 403, with: [942_100] } },
}));

const form = (body: string): ChainRequest => ({ method: 'POST', headers: formType, body });

/** Escapes in arguments, and whether they are UTF-8. */
const encodings: readonly (readonly [says: string, value: string, fine: boolean])[] = [
  ['plain letters', 'abc', true],
  ['two bytes', 'caf%C3%A9', true],
  ['three bytes', '%E2%82%AC', true],
  ['four bytes', '%F0%9F%98%80', true],
  ['one byte of two', 'caf%C3', false],
  ['a byte that begins nothing', '%80', false],
  ['two bytes for one', '%C0%AF', false],
  ['three bytes for one', '%E0%80%AF', false],
  ['a byte that is never used', '%FF', false],
  ['latin letters', 'caf%E9%20x', false],
  ['past the last character', '%F7%BF%BF%BF', false],
];

const encodingRows = encodings.flatMap(([says, value, fine]) =>
  (
    [
      ['a query', { path: `/?a=${value}` }],
      ['a form', form(`a=${value}`)],
    ] as const
  ).flatMap(([place, request]): ChainRow[] => [
    {
      says: `crsValidateUtf8Encoding true: ${says}, ${place}`,
      ...{ site: 'utf8-on', request },
      expected: { status: 200, ...(fine ? { without: [920_250] } : { with: [920_250] }) },
    },
    {
      says: `crsValidateUtf8Encoding false: ${says}, ${place}`,
      ...{ site: 'utf8-off', request, expected: { ...passed, without: [920_250] } },
    },
  ]),
);

const jsonRows = (
  [
    ['text that is UTF-8', '{"a":"\xc3\xa9"}', true],
    ['text that is not', '{"a":"\xe9"}', false],
  ] as const
).map(([says, body, fine]): ChainRow => ({
  says: `crsValidateUtf8Encoding true: JSON, ${says}`,
  ...{ site: 'utf8-on', request: { method: 'POST', headers: jsonType, body } },
  // JSON that is not UTF-8 is no JSON (RFC 8259 section 8.1), whatever is set.
  expected: fine ? { ...passed, without: [920_250] } : { status: 400, with: [200_002] },
}));

const core = (key: string, crsCore: object) => [
  ...policyCalls(
    key,
    'standard',
    policyChange(
      { crsCore },
      Object.keys(crsCore)
        .map((name) => `crsCore.${name}`)
        .join(','),
    ),
  ),
  siteCall(key, inspectedBy(key)),
];

/** The group. */
export const bodyGroup: ChainGroup = {
  setup: [
    ...core('xml-on', { crsXmlAttributeInspection: true }),
    ...core('xml-off', { crsXmlAttributeInspection: false }),
    // A warning alone does not reach the threshold.
    ...core('utf8-on', { crsValidateUtf8Encoding: true }),
    ...core('utf8-off', { crsValidateUtf8Encoding: false }),
  ],
  rows: [...attributeRows, ...contentRows, ...encodingRows, ...jsonRows],
};
