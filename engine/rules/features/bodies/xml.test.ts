/** Tests reading XML bodies and the XPath selectors over them. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { decodeUtf8, encodeUtf8 } from '../../../../base/byte-string.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import {
  misplacedRows,
  rowTexts,
  transactionFor,
  transactionWithBody,
} from '../../load/test-sample.ts';
import type { ReachedLimits } from '../../transaction/inspection-limits.ts';
import { SOURCE } from '../../transaction/values.ts';
import { findVariable } from '../variables/list.ts';
import { compileXmlPath, selectXml } from './xml-path.ts';
import { readWithSaxes } from './xml-oracle.test-support.ts';
import { readXml, textOf } from './xml-tree.ts';
import type { XmlElement } from '../../transaction/xml-element.ts';

/** Text of the root, attributes, reason. */
function read(text: string, truncated = false): [string, string, string] {
  const tx = transactionWithBody('XML', encodeUtf8(text), {}, truncated);
  expect(misplacedRows(tx)).toEqual([]);
  expect(tx.bodyError).toBe(tx.bodyErrorMessage === '' ? 0 : 1);
  const rows = (source: 6 | 7): string => rowTexts(tx, source).map(decodeUtf8).join('|');
  return [rows(SOURCE.xmlText), rows(SOURCE.xmlAttribute), tx.bodyErrorMessage];
}

describe('documents', () => {
  const rows: [string, string, string][] = [
    ['<a/>', '/*=', ''],
    ['<a>x<b y="1" z=\'2\'>in</b>\n<![CDATA[<c>]]></a>', '/*=xin\n<c>', '//@*=1|//@*=2'],
    ['<?xml version="1.0" encoding="UTF-8"?><a>ä&#x1F600;&lt;&amp;</a>', '/*=ä😀<&', ''],
    ['<a xmlns:p="urn:x" xmlns="urn:y"><p:b p:c="d"/></a>', '/*=', '//@*=d'],
    ['<p:a>b</p:a>', '/*=b', ''],
    ['<a><!-- no --><?no no?>yes</a>', '/*=yes', ''],
    ['\ufeff<a>b</a>', '/*=b', ''],
  ];
  test.each(rows)('%s', (text, value, attributes) => {
    expect(read(text)).toEqual([value, attributes, '']);
  });

  test('encodings', () => {
    const utf16 = Buffer.from('\ufeff<a b="ä">ö</a>', 'utf16le');
    for (const bytes of [utf16, Buffer.from(utf16).swap16()]) {
      const tx = transactionWithBody('XML', bytes);
      expect(rowTexts(tx, SOURCE.xmlText).map(decodeUtf8)).toEqual(['/*=ö']);
      expect(tx.bodyError).toBe(0);
    }
    const latin1 = '<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe4</a>';
    expect(rowTexts(transactionWithBody('XML', latin1), SOURCE.xmlText)).toEqual(['/*=\xc3\xa4']);
    expect(transactionWithBody('XML', '<a>\xff</a>').bodyErrorMessage).toBe('XML: not UTF-8');
    const other = '<?xml version="1.0" encoding="koi8-r"?><a/>';
    expect(transactionWithBody('XML', other).bodyErrorMessage).toBe('XML: an unknown encoding');
  });

  test('UTF-16 and UTF-32 without a byte order mark', () => {
    for (const name of ['名', 'a']) {
      const utf16 = Buffer.from(`<${name} b="c">ö😀</${name}>`, 'utf16le');
      for (const bytes of [utf16, Buffer.from(utf16).swap16()]) {
        const tx = transactionWithBody('XML', bytes);
        expect(rowTexts(tx, SOURCE.xmlText).map(decodeUtf8)).toEqual(['/*=ö😀']);
        expect(rowTexts(tx, SOURCE.xmlAttribute)).toEqual(['//@*=c']);
        expect(tx.bodyError).toBe(0);
      }
    }
    const utf32 = Buffer.from([...'<a>x</a>'].flatMap((one) => [0, 0, 0, one.charCodeAt(0)]));
    for (const bytes of [utf32, Buffer.from(utf32).swap32()]) {
      const tx = transactionWithBody('XML', bytes);
      expect(rowTexts(tx, SOURCE.xmlText)).toEqual(['/*=x']);
      expect(tx.bodyErrorMessage).toBe('XML: not UTF-8');
    }
  });

  test.each([
    '<?xml version="1.0" encoding="utf-7"?><a/>',
    `<?xml version="1.0"${' '.repeat(5000)}encoding="utf-7"?><a/>`,
    `\xef\xbb\xbf<?xml\n version='1.0'\tencoding\r\n= 'UNICODE-1-1-UTF-7' standalone="yes"?><a/>`,
    '<?xml version="1.0" encoding="utf-8" encoding="HZ"?><a/>',
    '<?xml version="1.0" encoding="ISO-2022-JP"?><a/>',
    '<?xml version="1.0" encoding="IBM037"?><a/>',
    '<?xml version="1.0" encoding=""?><a/>',
    '\x4c\x6f\xa7\x94\x93\x40',
  ])('an encoding that hides ASCII is named, case %#', (text) => {
    const hidden = 'XML: an encoding that is not read';
    expect(transactionWithBody('XML', text).bodyErrorMessage).toBe(hidden);
  });

  test('a document type is inspected as text in every encoding', () => {
    const text = '<?xml version="1.0" encoding="latin1"?><!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>';
    const outside = '= a [<!ENTITY e "x">]>';
    for (const bytes of [Buffer.from(text), Buffer.from(text, 'utf16le')]) {
      const tx = transactionWithBody('XML', bytes, { inspectsUnparsed: true });
      expect(rowTexts(tx, SOURCE.argPost)).toEqual([outside]);
      expect(rowTexts(tx, SOURCE.xmlText)).toEqual(['/*=&e;']);
    }
  });

  test('a name of UTF-16 on bytes that are ASCII hides nothing', () => {
    const text = '<?xml version="1.0" encoding="utf-16"?><a>b</a>';
    const tx = transactionWithBody('XML', text);
    expect(tx.bodyErrorMessage).toBe('XML: an unknown encoding');
    expect(rowTexts(tx, SOURCE.xmlText)).toEqual(['/*=b']);
  });
});

describe('what is wrong is recorded, and what can be read is kept', () => {
  const rows: [string, string, string][] = [
    ['<!DOCTYPE a [<!ENTITY js "x">]><a>&js;y</a>', '/*=&js;y', 'document type'],
    ['<!DOCTYPE a SYSTEM "http://x/"><a>b</a>', '/*=b', 'document type'],
    ['<a>b', '', 'not well-formed'],
    ['<a>b</c></a>', '/*=b', 'not well-formed'],
    ['<a>b</a><x/>', '/*=b', 'not well-formed'],
    ['<a b=1>c</a>', '/*=c', 'not well-formed'],
    ['<a>&unknown;</a>', '/*=&unknown;', 'not well-formed'],
    ['{}', '', 'not well-formed'],
    ['<a>'.repeat(300), '', 'nesting too deep'],
    [`<a>${'<b/>'.repeat(60_000)}</a>`, '', 'too many elements'],
    [`<a>${'<b c="1"/>'.repeat(11_000)}</a>`, '', 'too many attributes'],
    [`<a>${'&x;'.repeat(1_000_000)}</a>`, '', 'not well-formed'],
  ];
  test.each(rows)('case %#', (text, value, reason) => {
    const [found, , why] = read(text);
    if (value !== '') expect(found).toBe(value);
    expect(why).toMatch(/^XML: /);
    expect(why).toContain(reason);
  });

  test('a cut document is no error wherever it is cut', () => {
    const whole = '<?xml version="1.0"?><a b="att"><c>text</c><!-- x --><![CDATA[y]]></a>';
    for (let at = 1; at < whole.length; at++) expect(read(whole.slice(0, at), true)[2]).toBe('');
    expect(read('<a>te', true)[0]).toBe('/*=te');
    expect(read('<a b="att', true)[1]).toMatch(/^\/\/@\*=att/);
    expect(read("<a b='att", true)[1]).toMatch(/^\/\/@\*=att/);
  });
});

describe('XPath', () => {
  const store = `<?xml version="1.0"?><bookstore xmlns:s="urn:s">
<book category="COOKING"><title lang="en">Italian</title><price>30</price></book>
<book category="WEB"><title>XML</title><price>40</price><s:note>n</s:note></book></bookstore>`;
  const rows: [string, string[] | null][] = [
    ['/bookstore/book/price', ['30', '40']],
    ['/bookstore/book/price[text()]', ['30', '40']],
    ['/bookstore/book[2]/title', ['XML']],
    ['/bookstore/book[last()]/price', ['40']],
    ['//title', ['Italian', 'XML']],
    ['//title/text()', ['Italian', 'XML']],
    ['//book/@category', ['COOKING', 'WEB']],
    ['//@lang', ['en']],
    ["//book[@category='WEB']/title", ['XML']],
    ['//book[price="30"]/title', ['Italian']],
    ['//book[@none]', []],
    ["//*[local-name()='note']", ['n']],
    ["//bookstore/*[local-name()='book']/price", ['30', '40']],
    ['//s:note', ['n']],
    ['//q:note', ['n']],
    ['//note', []],
    ['/book', []],
    ['/bookstore/book[1]/*', ['Italian', '30']],
    ['', null],
    ['book', null],
    ['/a[', null],
    ['/a[b[c]]', null],
    ['/a[position()<2]', null],
    ['count(//a)', null],
    ['/text()/a', null],
    ['/a|/b', null],
  ];
  test.each(rows)('%s', (text, expected) => {
    const path = compileXmlPath(text);
    expect(path === null).toBe(expected === null);
    const { root } = readXml(Buffer.from(store), false);
    const namespaces = new Map([['q', 'urn:s']]);
    const limits: ReachedLimits = { limitsReached: [] };
    if (path !== null) expect(selectXml(root!, path, namespaces, limits)).toEqual(expected);
    expect(limits.limitsReached).toEqual([]);
  });

  test('the variable', () => {
    const xml = findVariable('XML')!;
    const tx = transactionWithBody('XML', '<a b="c">d</a>');
    expect(xml.forXPath!('/a')!.select!(tx, '/a', new Map())).toEqual([{ key: '/a', value: 'd' }]);
    for (const [path, value] of [
      ['/*', 'd'],
      ['//@*', 'c'],
    ] as const) {
      const served = xml.forXPath!(path)!;
      expect(served.rows!.sources).toHaveLength(1);
      expect(served.select!(tx, path, new Map())).toEqual([{ key: path, value }]);
    }
    expect(xml.forXPath!('count(/*)')).toBeNull();
    expect(xml.entries(transactionFor('GET / HTTP/1.1\r\nHost: a'))).toEqual([]);
  });

  test('a document built to be searched for ever', () => {
    const deep = `${'<a>'.repeat(200)}${'</a>'.repeat(200)}`;
    const { root } = readXml(Buffer.from(deep), false);
    const path = compileXmlPath('//a'.repeat(14))!;
    const limits: ReachedLimits = { limitsReached: [] };
    expect(selectXml(root!, path, new Map(), limits).length).toBeLessThanOrEqual(200);
    expect(limits.limitsReached).toEqual(['xpath-nodes']);
  });
});

test('parseXmlIntoArgs', () => {
  const rows = [
    ['on', ['xml.a.b=1', 'xml.a.c.d=2'], 1],
    ['onlyArgs', ['xml.a.b=1', 'xml.a.c.d=2'], 0],
    ['off', [], 1],
  ] as const;
  for (const [mode, args, texts] of rows) {
    const tx = transactionFor('POST / HTTP/1.1\r\nHost: a');
    tx.control.requestBodyProcessor = 'XML';
    tx.control.parseXmlIntoArgs = mode;
    const bytes = Buffer.from('<a><b>1</b><c><d>2</d></c></a>');
    loadRequestBody(tx, { bytes, truncated: false });
    expect(rowTexts(tx, SOURCE.argPost)).toEqual(args);
    expect(rowTexts(tx, SOURCE.xmlText)).toHaveLength(texts);
  }
});

test('rows, the tree and saxes agree on a document and on whether it is well-formed', () => {
  const value = fc.constantFrom('x', '&lt;', '&#65;', '&#x20AC;', '\n', 'é', '&', '<', '&#0;', '');
  const attribute = fc
    .tuple(fc.constantFrom('a', 'b', 'xmlns', 'p:c', '1'), fc.constantFrom('"', "'", ''), value)
    .map(([name, quote, text]) => ` ${name}=${quote}${text}${quote}`);
  const leaf = fc.oneof(
    fc.constantFrom('text', '\r\n', ' ', ']]>', '&amp;', '&x;', 'é', '\r', '>', '"', '\x01'),
    fc.constantFrom('<!-- c -->', '<!-- a--b -->', '<![CDATA[<&\r\n]]>', '<?pi x?>', '<', '</d>'),
    fc.array(attribute, { maxLength: 3 }).map((all) => `<e${all.join('')}/>`),
  );
  const element = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .tuple(fc.array(attribute, { maxLength: 2 }), fc.array(tie('node'), { maxLength: 4 }))
        .map(([all, inner]) => `<n${all.join('')}>${inner.join('')}</n>`),
    ),
  })).node;
  const document = fc
    .tuple(fc.constantFrom('', ' ', '\ufeff', '<?xml version="1.0"?>\n'), fc.array(element))
    .map(([prolog, inner]) => `${prolog}<root>${inner.join('')}</root>`);
  let sound = 0;
  fc.assert(
    fc.property(document, (text) => {
      const { root, reason } = readXml(Buffer.from(text), false);
      const [found, attributes, why] = read(text);
      const expected = readWithSaxes(text.replace('\ufeff', ''));
      expect(why === '').toBe(reason === null);
      expect(reason === null).toBe(expected !== null);
      if (expected === null || root === null) return;
      sound++;
      expect(withoutParents(root)).toEqual(withoutParents(expected));
      expect(found).toBe(`/*=${textOf(root)}`);
      expect(attributes).toBe(attributesOf(root).join('|'));
    }),
    { numRuns: 3_000 },
  );
  expect(sound).toBeGreaterThan(300);
});

/** Elements as JSON writes them, which knows no way up. */
function withoutParents(root: XmlElement): unknown {
  return JSON.parse(JSON.stringify(root, (key, value: unknown) => (key === 'parent' ? 0 : value)));
}

function attributesOf(element: XmlElement): string[] {
  return [
    ...element.attributes.map(({ value }) => `//@*=${value}`),
    ...element.children.flatMap((child) => (typeof child === 'string' ? [] : attributesOf(child))),
  ];
}

test('random pieces never throw and never put a row outside', () => {
  const piece = fc.constantFrom(
    '<a>',
    '</a>',
    '<b c="',
    '"',
    "'",
    '>',
    '/>',
    '&',
    '&lt;',
    ';',
    '<!--',
    '-->',
    ' ',
    'x',
    '<![CDATA[',
    ']]>',
    '<?xml ',
    '?>',
    '<!DOCTYPE ',
    '[',
    ']',
    '\xff',
    '\0',
    'xmlns:p="u"',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, truncated) => {
      const tx = transactionWithBody('XML', pieces.join(''), {}, truncated);
      expect(misplacedRows(tx)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
