/** Multipart requests as clients write them, and some that backends read differently. Plain data. */

/** What comes after `multipart/form-data`, and the body with `|` for CRLF. */
export interface ClientRow {
  readonly title: string;
  readonly parameters: string;
  readonly body: string;
}

/** A part of a body: its header lines with `|` for CRLF, and its content. */
const part = (lines: string, content = 'hello', boundary = 'B'): string =>
  `--${boundary}|${lines}||${content}|`;
const field = 'Content-Disposition: form-data; name="a"';
const upload =
  'Content-Disposition: form-data; name="f"; filename="n.txt"|Content-Type: text/plain';
const form = (boundary: string): string =>
  `${part(field, 'hello', boundary)}${part(upload, 'text', boundary)}--${boundary}--|`;

const line = (title: string, parameters: string, boundary: string): ClientRow => ({
  title,
  parameters,
  body: form(boundary),
});
const body = (title: string, text: string): ClientRow => ({
  title,
  parameters: '; boundary=B',
  body: text,
});
const parts = (title: string, ...lines: readonly string[]): ClientRow =>
  body(title, `${lines.map((one) => part(one)).join('')}--B--|`);

const guid = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';
const gecko = '----geckoformboundary4a7acee3709293e1';
const webkit = '----WebKitFormBoundary7MA4YWxkTrZu0gW';

/** PHP, Express, Flask, Django and Go read each of these alike: a field `a`, and a file at most. */
export const alikeRows: readonly ClientRow[] = [
  line('.NET HttpClient: quoted', `; boundary="${guid}"`, guid),
  line(
    'Java mail: quoted with an equals sign',
    '; boundary="----=_Part_0_1.2"',
    '----=_Part_0_1.2',
  ),
  line('Apache HttpClient 5: charset first', '; charset=ISO-8859-1; boundary=B', 'B'),
  line('charset first, quoted boundary', '; charset=UTF-8; boundary="B"', 'B'),
  line('charset in quotes', '; charset="utf-8"; boundary=B', 'B'),
  line('Firefox and Spring: the word in the boundary', `;boundary=${gecko};charset=UTF-8`, gecko),
  line('the word in the boundary, charset first', `; charset=UTF-8; boundary=${gecko}`, gecko),
  line('another case', '; Boundary=B', 'B'),
  line('upper case', '; BOUNDARY="B"', 'B'),
  line('another case, the word in a third one', `;Boundary=${webkit};charset=UTF-8`, webkit),
  line('blanks after quotes', '; boundary="B" ; charset=utf-8', 'B'),
  line('all that RFC 2046 wants quoted', `; boundary="a'()+_,-./:=? b"`, `a'()+_,-./:=? b`),
  line('the word as a name and a value', '; boundary="MyBoundary=x"', 'MyBoundary=x'),
  line('type with a semicolon', '; type="a;b"; boundary=B', 'B'),
  line('a semicolon at the end', '; boundary=B;', 'B'),
  body('CRLF before the first boundary', `|${form('B')}`),
  body('two line ends before the first boundary', `||${form('B')}`),
  body('a preamble', `This is a multi-part message in MIME format.|${form('B')}`),
  line('an empty value of another parameter', '; boundary=B; x=""', 'B'),
  line('a quoted pair in another parameter', '; x="\\""; boundary="B"', 'B'),
  body('a preamble with an empty line', `This is||a message|${form('B')}`),
  body('an epilogue', `${form('B')}The end`),
  body('an epilogue with an empty line', `${form('B')}||The end|`),
  body('no last CRLF', form('B').slice(0, -1)),
  body('blanks after the last boundary', `${form('B').slice(0, -1)} |`),
  parts('tokens', 'Content-Disposition: form-data; name=a'),
  parts(
    '.NET: tokens and an extended name',
    field,
    "Content-Disposition: form-data; name=f; filename=t.txt; filename*=utf-8''t.txt",
  ),
  parts('an apostrophe in a token', field, "Content-Disposition: form-data; name=f; filename=it's"),
  parts(
    'parameters of mail',
    `${field}; size=5`,
    'Content-Disposition: form-data; name="f"; filename="n"; size=12',
  ),
  parts('Content-Type first', `Content-Type: text/plain|${field}`),
  parts('Content-Length', `${field}|Content-Length: 5`),
  parts('a header twice', `${field}|X-A: 1|X-A: 2`),
  parts('a folded Content-Type', `${field}|Content-Type: text/plain;| charset=utf-8`),
  parts('8bit', `${field}|Content-Transfer-Encoding: 8bit`),
];

/** Some backends read each of these otherwise than others. */
export const differentRows: readonly ClientRow[] = [
  line('two boundaries', '; boundary=B; boundary=C', 'B'),
  line('the word with a value in an earlier parameter', '; x="boundary=C"; boundary=B', 'B'),
  line('another case, and the word later', '; Boundary=B; x="boundary=C"', 'B'),
  line('another case, the word in the boundary', `;Boundary=${gecko};charset=UTF-8`, gecko),
  line('a comma', '; boundary=B,C', 'B'),
  line('blanks before a semicolon', '; boundary=B ; charset=utf-8', 'B'),
  line('single quotes', "; boundary='B'", 'B'),
  line('open quotes', '; boundary="B', 'B'),
  line('an escape', '; boundary="\\B"', 'B'),
  line('text after the quotes', '; boundary="B"C', 'B'),
  line('blanks before the equals sign, not first', '; charset=utf-8; boundary =B', 'B'),
  line(
    'a quoted pair with the word in an earlier parameter',
    '; x="\\"; boundary=C"; boundary=B',
    'B',
  ),
  line('wide characters', '; charset=utf-16le; boundary=B', 'B'),
  line('seven bits', '; boundary=B; charset="utf-7"', 'B'),
  line('extended', "; boundary*=utf-8''B", 'B'),
  line('continued', '; boundary*0=B', 'B'),
  line('an empty parameter', ';; charset=utf-8; boundary=B', 'B'),
  body('a part in the preamble', `${field}||hidden|${form('B')}`),
  body('a part in the epilogue', `${form('B')}${field}||hidden`),
  body('parts after the last boundary', form('B') + form('B')),
  body('a boundary within a line of the preamble', `x--B|${form('B')}`),
  body('LF before the first boundary', `\n${form('B')}`),
  body('a line end of one byte', form('B').replace('--B|', '--B\n')),
  body('blanks after a boundary', form('B').replace('--B|', '--B |')),
  body('a folded Content-Disposition', form('B').replace('; name="a"', ';| name="a"')),
  parts('a folded header with a colon', `${field}|X: y|  Content-Disposition: z`),
  parts('Content-Disposition twice', `${field}|${field}`),
  parts('Content-Type twice', `${field}|Content-Type: a/b|Content-Type: text/plain`),
  parts('single quotes in a part', "Content-Disposition: form-data; name='a'"),
  parts('a part in EBCDIC', `${field}|Content-Type: text/plain; charset=cp037`),
  parts('a part in UTF-16', `Content-Type: text/plain; charset="utf-16le"|${field}`),
  parts('a part in UTF-7', `${field}|Content-Type: text/plain;charset=utf-7`),
];
