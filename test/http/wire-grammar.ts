/**
 * Random HTTP/1.x wires for comparisons of parsers: requests put together from usual and odd parts,
 * with lengths that mostly fit. Pure; the random source decides everything.
 */

/** A whole number from 0 to `below` - 1. */
export type Random = (below: number) => number;

/** Random numbers that a seed repeats. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function oneOf<T>(random: Random, all: readonly T[]): T {
  return all[random(all.length)]!;
}

/** The first most of the time, else one of the rest. */
function mostly<T>(random: Random, oddsAgainst: number, all: readonly T[]): T {
  return random(oddsAgainst) === 0 ? oneOf(random, all) : all[0]!;
}

const methods = [
  'GET',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'get',
  'G\tT',
];
const targets = [
  '/a',
  '/a?b=c',
  '//x/y',
  '/a/../b',
  '/%2e%2e/%00',
  '/a%20b?c%26d',
  'http://site.example/abs',
  'http://site.example',
  'http://site.example?q',
  'HTTP://SITE.example/abs',
  'http://other.example/abs',
  'http://site.example:8080/abs',
  'http://u@site.example/abs',
  'https://site.example/abs',
  '*',
  '/a b',
  '/a#b',
  '/\xe4',
  '/\x7f',
  '/a\tb',
  'a',
  '',
  '\\a',
  '/a\\..\\b',
  '/"<>|^`{}',
];
const versions = [
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.1 ',
  'http/1.1',
  'HTTP/01.1',
  'HTTP/1.10',
  'HTTP/1,1',
  'HTTP/1',
  '',
];
const hosts = [
  'Host: site.example',
  'host:site.example',
  'Host: \t site.example \t',
  'Host: site.example:80',
  'Host: SITE.EXAMPLE',
  'Host: other.example',
  'Host:',
  'Host: a b',
  'Host: a,b',
  'Host: site.example@evil.example',
  'Host: site.example/evil',
  'Host: [::1]:80',
  'Host: site.example:',
  'Host: site.example:x',
  'Host : site.example',
  'Host: site.example\r\nHost: site.example',
  'Host: site.example\r\nHost: evil.example',
  'Hos\x00t: site.example',
  'X: y',
];
const connections = [
  'Connection: keep-alive',
  'Connection: close',
  'Connection: X-Drop, keep-alive\r\nX-Drop: 1',
  'Connection: Content-Length',
  'Connection: Transfer-Encoding',
  'Connection: Host',
  'Connection: Content-Type\r\nContent-Type: a/b',
  'Connection: upgrade\r\nUpgrade: h2c',
];
const oddLines = [
  'X-A: 1',
  'X-B:\t2\t',
  'X-C: a\x0bb',
  'X-D: a\x00b',
  'X-E: \xff\xfe',
  'X-F: a\rb',
  'X-G: a\nb',
  ' folded: 1',
  '\tfolded',
  'X-H : 1',
  'X(I): 1',
  'X\xe4: 1',
  ': 1',
  'no colon',
  'X_J: 1',
  'X.K: 1',
  'Content_Length: 5',
  'Transfer_Encoding: chunked',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'TE: trailers',
  'Trailer: X-T',
  'Upgrade: h2c',
  'Keep-Alive: timeout=1',
  'Content-Type: text/plain',
  'Content-Encoding: gzip',
  'Cookie: a=b\r\nCookie: c=d',
  'Max-Forwards: 0',
  'Range: bytes=0-1',
  'X-Empty:',
  'X-Long: ' + 'x'.repeat(300),
];
const lengthLines = [
  'Content-Length: N',
  'content-length:N',
  'Content-Length: N ',
  'Content-Length: \tN',
  'Content-Length: 0N',
  'Content-Length: +N',
  'Content-Length: -N',
  'Content-Length: N, N',
  'Content-Length: N,',
  'Content-Length: ,N',
  'Content-Length: 0xN',
  'Content-Length: Ne0',
  'Content-Length: N.0',
  'Content-Length: "N"',
  'Content-Length:',
  'Content-Length: 18446744073709551616',
  'Content-Length: N\r\nContent-Length: N',
  'Content-Length: N\r\nContent-Length: 0',
  'Content-Length: 0\r\nContent-Length: N',
  'Content-Length: N\r\n 0',
  'Content-Length : N',
  'Content-Length\t: N',
  'Content-Length: N\x0b',
  'Content-Length: N\x00',
  'Content-Length: N;x',
  'X: y\rContent-Length: N',
  'X: y\nContent-Length: N',
  '\x00Content-Length: N',
  'Content-Length\x00: N',
  'Content Length: N',
];
const chunkedLines = [
  'Transfer-Encoding: chunked',
  'transfer-encoding:CHUNKED',
  'Transfer-Encoding: \tchunked\t',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked,',
  'Transfer-Encoding: ,chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding: chunked;a=b',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: chunked\x00',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: chunked\r\n x',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding:',
  'X: y\rTransfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
  ' Transfer-Encoding: chunked',
  'Transfer-Encoding\x00: chunked',
  'Transfer\xadEncoding: chunked',
  'Transfer-Encoding: c\thunked',
  'Transfer-Encoding: chunk',
];
/** `S` is the size of the content in hexadecimal. */
const sizeLines = [
  'S\r\n',
  '0S\r\n',
  '0000000000S\r\n',
  '00000000000000000000000000S\r\n',
  'S;x\r\n',
  'S;x=y\r\n',
  'S;x="a;b"\r\n',
  'S ;x=y\r\n',
  'S \r\n',
  'S\t\r\n',
  ' S\r\n',
  '0xS\r\n',
  '+S\r\n',
  '-S\r\n',
  'S\n',
  'S\r',
  'S;x\ny\r\n',
  'S;x\ry\r\n',
  'S;\x00\r\n',
  'S;="\r\n"\r\n',
  '1000000000000000S\r\n',
  'FFFFFFFFFFFFFFFFS\r\n',
  'S,\r\n',
  'S.0\r\n',
  'Sg\r\n',
  '\r\nS\r\n',
  'S;' + 'x'.repeat(300) + '\r\n',
];
const dataEnds = ['\r\n', '\n', '', '\r', 'x\r\n', '\r\n\r\n', ' \r\n'];
const lastChunks = [
  '0\r\n\r\n',
  '00\r\n\r\n',
  '0;x\r\n\r\n',
  '0\r\nX-T: 1\r\n\r\n',
  '0\r\nContent-Length: 9\r\n\r\n',
  '0\r\nTransfer-Encoding: chunked\r\n\r\n',
  '0\r\nHost: evil.example\r\n\r\n',
  '0\r\nX-T : 1\r\n\r\n',
  '0\r\n X-T: 1\r\n\r\n',
  '0\r\nX-T: a\nb\r\n\r\n',
  '0\r\nX-T: a\rb\r\n\r\n',
  '0\r\nno colon\r\n\r\n',
  '0\n\n',
  '0\r\n\n',
  '0\n\r\n',
  '0 \r\n\r\n',
  '0\r\r\n\r\n',
  '-0\r\n\r\n',
  '',
];
const contents = [
  'hello',
  '',
  'a=b&c=d',
  'GET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
];

function chunkedBody(random: Random): string {
  let body = '';
  for (let i = random(2) + 1; i > 0; i--) {
    const content = oneOf(random, contents);
    if (content === '') continue;
    const size = content.length.toString(16);
    body += mostly(random, 3, sizeLines).replace('S', size);
    body += content + mostly(random, 8, dataEnds);
  }
  return body + mostly(random, 4, lastChunks);
}

/** One request; usually with one or two oddities. */
function randomRequest(random: Random): string {
  const end = random(40) === 0 ? oneOf(random, ['\n', '\r', '\r\r\n', '\n\r\n']) : '\r\n';
  const gap = random(40) === 0 ? oneOf(random, ['  ', '\t', ' \t', '\x0b', '']) : ' ';
  const method = random(3) === 0 ? oneOf(random, methods) : oneOf(random, ['GET', 'POST']);
  const target = mostly(random, 4, targets);
  const lines = [[method, target, mostly(random, 8, versions)].join(gap)];
  lines.push(mostly(random, 5, hosts));
  let body = '';
  const framing = random(5);
  if (framing === 1 || framing === 4) {
    body = oneOf(random, contents);
    lines.push(mostly(random, 2, lengthLines).replaceAll('N', String(body.length)));
  }
  if (framing >= 3) {
    lines.push(mostly(random, 3, chunkedLines));
    body = chunkedBody(random);
  }
  for (let i = random(3); i > 0; i--) lines.push(oneOf(random, oddLines));
  if (random(5) === 0) lines.push(oneOf(random, connections));
  if (random(4) === 0) lines.push(lines.splice(1, 1)[0]!);
  const lead = random(20) === 0 ? oneOf(random, ['\r\n', '\n', ' ', '\r\n\r\n', '\r']) : '';
  const head = lines.join('\r\n').replace('\r\n', end);
  return `${lead}${head}\r\n${random(60) === 0 ? '\n' : '\r\n'}${body}`;
}

/** One to three requests on one connection. */
export function randomWire(random: Random): string {
  const count = random(4) === 0 ? random(2) + 2 : 1;
  return Array.from({ length: count }, () => randomRequest(random)).join('');
}
