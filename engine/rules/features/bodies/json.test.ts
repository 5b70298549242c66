/** Tests reading JSON bodies: names, values, what is wrong, limits, random input. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { decodeUtf8, encodeUtf8 } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { misplacedRows, rowTexts, transactionWithBody } from '../../load/test-sample.ts';
import { SOURCE } from '../../transaction/values.ts';

const read = (text: string, settings = {}, truncated = false): [string[], string] => {
  const tx = transactionWithBody('JSON', encodeUtf8(text), settings, truncated);
  expect(tx.bodyError).toBe(tx.bodyErrorMessage === '' ? 0 : 1);
  expect(misplacedRows(tx)).toEqual([]);
  return [rowTexts(tx, SOURCE.argPost).map(decodeUtf8), tx.bodyErrorMessage];
};

const valid: [string, string[]][] = [
  ['{"foo":"bar","mod":"sec"}', ['json.foo=bar', 'json.mod=sec']],
  ['{"a":{"b":{"c":"d"}}}', ['json.a.b.c=d']],
  [
    '{"a":[1,"x",{"b":2},[3],[]]}',
    [
      'json.a=',
      'json.a.array_0=1',
      'json.a.array_1=x',
      'json.a.array_2.b=2',
      'json.a.array_3.array_0=3',
    ],
  ],
  ['[true,false,null]', ['json.array_0=true', 'json.array_1=false', 'json.array_2=']],
  ['"x"', ['json=x']],
  ['{}', []],
  [' [ ] ', []],
  ['{"a":{},"b":[]}', ['json.b=']],
  ['{"a":1,"a":2}', ['json.a=1', 'json.a=2']],
  ['{"":"v"}', ['json.empty-key=v']],
  ['{"a":-0.5e+10}', ['json.a=-0.5e+10']],
  ['{"\\u0061":"\\u00e4\\ud83d\\ude00\\n\\/"}', ['json.a=ä😀\n/']],
  ['{"a":"\\ud800x"}', ['json.a=\ufffdx']],
  ['{"ä":"ö"}', ['json.ä=ö']],
  ['[[0],1]', ['json.array_0.array_0=0', 'json.array_1=1']],
];

describe('valid documents', () => {
  test.each(valid)('%s', (text, leaves) => {
    expect(read(text)).toEqual([leaves, '']);
  });

  test('long lists count on', () => {
    const [leaves] = read(JSON.stringify(Array.from({ length: 120 }, (_, i) => i)));
    expect(leaves.at(-1)).toBe('json.array_119=119');
  });
});

const invalid: [string, string[]][] = [
  ['a\n', []],
  ['{"a":1', ['json.a=1']],
  ['{"a":"cut', ['json.a=cut']],
  ['{"a":1}x', ['json.a=1']],
  ['{"a":1,}', ['json.a=1']],
  ['[1,]', ['json.array_0=1']],
  ['{a:1}', []],
  ["{'a':1}", []],
  ['[01]', []],
  ['[1.]', []],
  ['[.5]', []],
  ['[+1]', []],
  ['[1e]', []],
  ['[NaN]', []],
  ['[tru]', []],
  ['[1 2]', ['json.array_0=1']],
  ['{"a" 1}', []],
  ['["\\x41"]', ['json.array_0=x41']],
  ['["\\u12"]', ['json.array_0=12']],
  ['["a\tb"]', ['json.array_0=a\tb']],
  ['\ufeff{"a":1}', ['json.a=1']],
  ['[1}', ['json.array_0=1']],
  ['{"a":1]', ['json.a=1']],
  ['/* */{}', []],
  ['  ', []],
];

describe('what is wrong is recorded and does not hide what came before', () => {
  test.each(invalid)('%j', (text, leaves) => {
    const [found, reason] = read(text);
    expect(found).toEqual(leaves);
    expect(reason).toMatch(/^JSON: /);
  });

  test('bytes that are not UTF-8', () => {
    const tx = transactionWithBody('JSON', '{"a":"\xff"}');
    expect(tx.bodyErrorMessage).toBe('JSON: not UTF-8');
    expect(rowTexts(tx, SOURCE.argPost)).toEqual(['json.a=\xff']);
  });
});

describe('limits', () => {
  const deep = '{"key1":{"key2":{"key3":{"key4":{"key5":"thevalue"}}}}}';
  test('depth', () => {
    const leaf = ['json.key1.key2.key3.key4.key5=thevalue'];
    expect(read(deep, { jsonDepthMax: 5 })).toEqual([leaf, '']);
    expect(read(deep, { jsonDepthMax: 4 })).toEqual([leaf, 'JSON depth limit exceeded']);
  });

  test('arguments', () => {
    expect(read('[1,2,3]', { argumentsMax: 2 })).toEqual([
      ['json.array_0=1', 'json.array_1=2'],
      'SecArgumentsLimit exceeded',
    ]);
  });

  test('nesting without end', () => {
    expect(read('['.repeat(200_000))[1]).toMatch(/^JSON/);
    expect(read('{"a":'.repeat(100_000))[1]).toMatch(/^JSON/);
  });

  test('long names do not multiply', () => {
    const text = `{"${'n'.repeat(10_000)}":[${'1,'.repeat(900)}1]}`;
    const tx = transactionWithBody('JSON', text);
    expect(tx.bodyErrorMessage).toBe('JSON: names too long');
    expect(tx.values.used).toBeLessThan(3_000_000);
    expect(tx.values.rowsOf(SOURCE.argPost).length).toBe(902);
  });
});

test('a cut document is no error, and its last value is seen', () => {
  const whole = '{"a":{"b":"attack"},"list":[1,true,"\\u00e4"]}';
  for (let end = 1; end < whole.length; end++) {
    expect(read(whole.slice(0, end), {}, true)[1]).toBe('');
  }
  expect(read('{"a":"att', {}, true)[0]).toEqual(['json.a=att']);
  expect(read('{"a":1}x}', {}, true)[1]).not.toBe('');
});

test('leaves equal those of JSON.parse', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5, stringUnit: 'grapheme' }), (text) => {
      const [leaves, reason] = read(text);
      expect(reason).toBe('');
      expect(leaves.toSorted()).toEqual(leavesOf(text, 'json').toSorted());
    }),
    { numRuns: 300 },
  );
});

test('random bytes never throw and never put a row outside', () => {
  const piece = fc.constantFrom(
    ...Array.from('{}[]",:\\u0d8e1-.tfn \n'),
    '"a":',
    'true',
    '\xff',
    '\\ud800',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), (pieces, truncated) => {
      const text = pieces.join('');
      const tx = transactionWithBody('JSON', text, {}, truncated);
      expect(misplacedRows(tx)).toEqual([]);
      if (!truncated && text !== '') expect(tx.bodyError).toBe(isJson(text) ? 0 : 1);
    }),
    { numRuns: 2_000 },
  );
});

function isJson(bytes: string): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(bytes, 'latin1'),
    );
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Built from the parsed value; JSON.parse drops all but the last of equal names, fc makes none. */
function leavesOf(text: string, path: string): string[] {
  const walk = (value: unknown, at: string): string[] => {
    if (Array.isArray(value)) return value.flatMap((item, i) => walk(item, `${at}.array_${i}`));
    if (typeof value === 'object' && value !== null) {
      return Object.entries(value).flatMap(([name, item]) => {
        const key = name === '' ? 'empty-key' : name;
        return [...(Array.isArray(item) ? [`${at}.${key}=`] : []), ...walk(item, `${at}.${key}`)];
      });
    }
    const shown = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
    return [`${at}=${Buffer.from(shown).toString()}`];
  };
  return walk(JSON.parse(text), path).map((leaf) => Buffer.from(leaf).toString());
}

describe('what names take', () => {
  const bytesOfNames = (text: string): [bytes: number, rows: number, error: string] => {
    const tx = transactionWithBody('JSON', encodeUtf8(text), { argumentsMax: 100_000 });
    const rows = tx.values.rowsOf(SOURCE.argPost);
    const names = new Map(rows.map((row) => [tx.values.keyStart[row], tx.values.key(row)]));
    const bytes = [...names.values()].reduce((sum, name) => sum + name.length, 0);
    return [bytes, rows.length, tx.bodyErrorMessage];
  };
  const { jsonNameBytesMin, jsonNamesPerByte, jsonNameBytesMax } = valueLimits;

  test('a long name around a long list', () => {
    const text = JSON.stringify({ ['n'.repeat(1900)]: Array.from({ length: 900 }, () => 1) });
    const [bytes, rows, error] = bytesOfNames(text);
    expect(bytes).toBeLessThanOrEqual(jsonNameBytesMin + jsonNamesPerByte * text.length);
    expect(rows).toBeGreaterThan(10);
    expect(error).toBe('JSON: names too long together');
  });

  test('never more than the bound, however large the document', () => {
    const list = Array.from({ length: 3000 }, () => 'v'.repeat(300));
    const [bytes, , error] = bytesOfNames(JSON.stringify({ ['n'.repeat(500)]: list }));
    expect(bytes).toBeLessThanOrEqual(jsonNameBytesMax);
    expect(bytes).toBeGreaterThan(jsonNameBytesMax - 600);
    expect(error).toBe('JSON: names too long together');
  });

  test('a member that is repeated shares one name', () => {
    const name = 'n'.repeat(1000);
    const text = `{${Array.from({ length: 500 }, (_, i) => `"${name}":${i}`).join(',')}}`;
    expect(bytesOfNames(text)).toEqual([1005, 500, '']);
  });

  test('a deep document of usual names stays below', () => {
    const item = {
      spec: { template: { containers: [{ env: { valueFrom: { secretKeyRef: 'v' } } }] } },
    };
    const [, rows, error] = bytesOfNames(JSON.stringify({ items: Array(490).fill(item) }));
    expect([rows, error]).toEqual([981, '']);
  });

  test('an error after the cut of a body is reported, too', () => {
    const text = JSON.stringify({ ['n'.repeat(1900)]: Array.from({ length: 900 }, () => 1) });
    const tx = transactionWithBody('JSON', encodeUtf8(text.slice(0, -900)), {}, true);
    expect(tx.bodyErrorMessage).toBe('JSON: names too long together');
  });
});
