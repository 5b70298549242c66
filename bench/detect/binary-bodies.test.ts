/** Tests streams of serialized objects as bodies, with texts in them that stand as arguments. */

import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { startDice } from '../worst/search.ts';
import { scoreOf } from './figures.ts';
import { observe } from './observe.ts';
import { buildJudgedPolicy } from './policy.ts';

const { engine } = buildJudgedPolicy({
  ...{ template: 'Light', ruleset: 'none', crs4: '', cacheFolder: '.cache' },
});
const { detection } = engine.scoring!;

afterAll(() => engine.retire());

function refuses(body: Buffer, type = 'application/octet-stream'): boolean {
  const head = [
    ...['POST /upload HTTP/1.1', 'Host: shop.example', 'User-Agent: Mozilla/5.0', 'Accept: */*'],
    ...[`Content-Type: ${type}`, `Content-Length: ${body.length}`],
  ];
  const wire = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
  const request = { id: 'b', attack: true, kind: '', source: '', group: '', wire };
  return scoreOf(observe(engine, request), detection) >= detection.weights.thresholds.block;
}

/** A text that is an argument of its own, and bytes that make the rest binary data. */
const rest =
  'sr\0\x17java.util.PriorityQueue\x94\xda0\xb4\xfb?\x82\xb1\x03\0\x02I\0\x04sizeL\0' +
  '\x01\0\xfe'.repeat(40);

test.each([
  ['Java', `\xac\xed\0\x05${rest}`],
  ['BinaryFormatter of .NET', `\0\x01\0\0\0\xff\xff\xff\xff\x01\0\0\0\0\0\0\0\x0c\x02${rest}`],
  ['ObjectStateFormatter of .NET', `\xff\x01\x32${rest}`],
  ['pickle with a frame', `\x80\x04\x95\x1f\0\0\0\0\0\0\0\x8c\x05posix\x94\x8c\x06system${rest}`],
  ['pickle without a frame', `\x80\x04\x8c\x05posix\x8c\x06system\x93${rest}`],
  ['pickle with a class', `\x80\x03cposix\nsystem\n${rest}`],
  ['pickle in text', "cos\nsystem\n(S'id'\ntR."],
  ['Marshal of Ruby', `\x04\x08o:\x15Gem::Installer${rest}`],
  ['PHP', 'O:24:"GuzzleHttp\\Psr7\\FnStream":1:{s:9:"\0*\0method";s:6:"system";}'],
])('a stream of %s is refused', (_name, text) => {
  const stream = Buffer.from(text, 'latin1');
  for (const type of ['application/octet-stream', 'application/x-java-serialized-object', 'a/b']) {
    expect(refuses(stream, type)).toBe(true);
  }
  // Whatever follows it.
  expect(refuses(Buffer.concat([stream, Buffer.from('Please have a look (as agreed)\n')]))).toBe(
    true,
  );
});

test('other binary data is not', () => {
  const dice = startDice(1);
  const random = (bytes: number): Buffer =>
    Buffer.from(Array.from({ length: bytes }, () => dice(256)));
  const text = 'a name in a record of the file'.repeat(4);
  const ordinary: readonly string[] = [
    `\x89PNG\r\n\x1a\n\0\0\0\rIHDR${rest}`,
    `\x7fELF\x02\x01\x01\0${text}${rest}`,
    `\0\x01\0\0\0\x0f\0\x80\0\x03\0pGSUB${text}${rest}`,
    `\xff\xd8\xff\xe0\0\x10JFIF\0${text}${rest}`,
    `\x08\x96\x01\x12\x20${text}${rest}`,
    `\x80\x01\x95\0${text}${rest}`,
    `\x04\x08{\x07I"\x0fsession_id${text}${rest}`,
  ];
  for (const one of ordinary) expect(refuses(Buffer.from(one, 'latin1'))).toBe(false);
  expect(refuses(gzipSync(text))).toBe(false);
  for (let at = 0; at < 200; at++) expect(refuses(random(400))).toBe(false);
});
