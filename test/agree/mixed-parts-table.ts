/** Multipart bodies of other types than form-data, as clients and attackers write them. Plain data. */

/** A request; its body with `|` for CRLF and `%%` for `|`. */
export interface MixedRow {
  readonly title: string;
  readonly type: string;
  readonly body: string;
}

const part = (lines: string, content: string, boundary = 'B'): string =>
  `--${boundary}|${lines}${lines === '' ? '' : '|'}|${content}|`;
const body = (...parts: readonly string[]): string => `${parts.join('')}--B--|`;
const related = 'multipart/related; boundary=B';
const mixed = 'multipart/mixed; boundary=B';
const row = (title: string, type: string, ...parts: readonly string[]): MixedRow => ({
  title,
  type,
  body: body(...parts),
});
const json = 'Content-Type: application/json; charset=UTF-8';
const http = 'Content-Type: application/http|Content-Transfer-Encoding: binary';
const png = "\x89PNG|\x1a\n\0\0\0\rIHDR' or 1=1 -- <script>alert(1)</script>";
const soap =
  '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
  '<put xmlns="http://example.com/files"><name>report.pdf</name><data>' +
  '<xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:1.2@example.com"/>' +
  '</data></put></soap:Body></soap:Envelope>';

/** What real clients send. */
export const benignRows: readonly MixedRow[] = [
  row(
    'an upload to Google Drive',
    related,
    part(json, '{"name":"photo","parents":["x1"]}'),
    part('Content-Type: image/png', png.replace(/'.*/, '')),
  ),
  row(
    'a batch of Google',
    'multipart/mixed; boundary=B',
    part(
      'Content-Type: application/http|Content-ID: <item1:12930812@barnyard.example.com>',
      'GET /farm/v1/animals/pony?fields=id,name HTTP/1.1|Accept: application/json|' +
        'User-Agent: Google-API-Java-Client Google-HTTP-Java-Client/1.26.0 (gzip)||',
    ),
    part(
      'Content-Type: application/http|Content-ID: <item2:12930812@barnyard.example.com>',
      'PUT /farm/v1/animals/sheep HTTP/1.1|Content-Type: application/json|' +
        'Content-Length: 64|If-Match: "etag/sheep"||{"animalName":"sheep","animalAge":"5"}',
    ),
  ),
  row(
    'a batch of OData with a change set',
    mixed,
    part(http, 'GET Customers(42)?$select=Name,City&$top=5 HTTP/1.1|Host: odata.example|||'),
    part(
      'Content-Type: multipart/mixed; boundary=changeset_77',
      part(
        `${http}|Content-ID: 1`,
        'POST /service/Customers HTTP/1.1|Host: odata.example|' +
          'Content-Type: application/atom+xml;type=entry||<entry><title>New</title></entry>',
        'changeset_77',
      ) + '--changeset_77--',
    ),
  ),
  row(
    'SOAP with attachments (Axis)',
    'multipart/related; type="text/xml"; start="<root@example.com>"; boundary="B"',
    part(
      'Content-Type: text/xml; charset=UTF-8|Content-Transfer-Encoding: 8bit|' +
        'Content-ID: <root@example.com>',
      `<?xml version="1.0"?>${soap}`,
    ),
    part(
      'Content-Type: application/pdf|Content-Transfer-Encoding: binary|Content-ID: <1@example.com>',
      '%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj',
    ),
  ),
  row(
    'MTOM',
    'multipart/related; type="application/xop+xml"; start="<rootpart@soapui.org>"; ' +
      'start-info="application/soap+xml"; action="urn:files/put"; boundary="B"',
    part(
      'Content-Type: application/xop+xml; charset=UTF-8;| type="application/soap+xml"; ' +
        'action="urn:files/put"|Content-Transfer-Encoding: 8bit|Content-ID: <rootpart@soapui.org>',
      soap,
    ),
    part(
      'Content-Type: application/octet-stream; name="report.bin"|' +
        'Content-Transfer-Encoding: binary|Content-ID: <1.2@example.com>|' +
        'Content-Disposition: attachment; name="report.bin"; filename="report.bin"',
      '\0\x01\x02\x03report',
    ),
  ),
  row(
    'DICOM to a store',
    'multipart/related; type=application/dicom; boundary=B',
    part(
      'Content-Type: application/dicom',
      `${'\0'.repeat(128)}DICM\x02\0\0\0UL\x04\x001.2.840.10008`,
    ),
    part('Content-Type: application/dicom+json', '[{"00080018":{"vr":"UI","Value":["1.2.840"]}}]'),
  ),
  row(
    'a mail with alternatives',
    'multipart/alternative; boundary="B"',
    part(
      'Content-Type: text/plain; charset="us-ascii"|Content-Transfer-Encoding: 7bit',
      'Dear customer, your order has been sent. Thank you for your trust.',
    ),
    part(
      'Content-Type: text/plain; charset=utf-8|Content-Transfer-Encoding: quoted-printable',
      'Sch=C3=B6ne Gr=C3=BC=C3=9Fe und bis bald, wir freuen =|uns sehr.',
    ),
  ),
  row(
    'an attachment in base64',
    mixed,
    part('Content-Type: text/plain', 'See the picture.'),
    part(
      'Content-Type: image/png; name="a.png"|Content-Transfer-Encoding: base64|' +
        'Content-Disposition: attachment; filename="a.png"',
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA|WjR9awAAAABJRU5ErkJggg==',
    ),
  ),
  row('parts without headers', mixed, part('', 'hello'), part('', 'there')),
  {
    title: 'a preamble and an epilogue',
    type: mixed,
    body: `This is a multi-part message in MIME format.||${body(part(json, '{"a":"b"}'))}The end|`,
  },
  row('parts of a form', mixed, part('Content-Type: application/x-www-form-urlencoded', 'a=1&b=x')),
  row(
    'a message in a part',
    mixed,
    part(
      'Content-Type: message/rfc822',
      'Subject: Meeting on Monday|From: ann@example.com|Content-Type: text/plain||See you at nine.',
    ),
  ),
  row('an empty part', related, part(json, ''), part('Content-Type: text/plain', '')),
];

const sql = "1' or '1'='1";
const escaped = '{"a":"1\\u0027 or \\u00271\\u0027=\\u00271"}';
const script = '<script>alert(document.cookie)</script>';
const nested = (content: string): string =>
  part('Content-Type: text/plain', content, 'C') + '--C--';

/** An attack in each kind of part; Light refuses all. */
export const attackRows: readonly MixedRow[] = [
  row('in JSON', related, part(json, `{"name":"${sql}"}`)),
  row('in escapes of JSON', related, part(json, escaped)),
  row('in JSON that says it is text', related, part('Content-Type: text/plain', escaped)),
  row(
    'in XML',
    related,
    part('Content-Type: text/xml', `<a>${script.replaceAll('<', '&lt;')}</a>`),
  ),
  row('in text', mixed, part('Content-Type: text/plain', script)),
  row('in a part without headers', mixed, part('', script)),
  row(
    'in a form',
    mixed,
    part('Content-Type: application/x-www-form-urlencoded', 'a=%31%27%20or%20%271%27%3D%271'),
  ),
  row('in pairs of a text', mixed, part('', 'x y&a=%31%27%20or%20%271%27%3D%271')),
  row('in a picture without its signature', related, part('Content-Type: image/png', script)),
  row('in the path of a request', mixed, part(http, 'GET /../../../../etc/passwd HTTP/1.1||')),
  row('in its query', mixed, part(http, 'GET /a?x=1%27%20or%20%271%27%3D%271 HTTP/1.1||')),
  row('in a query without a version', mixed, part(http, `GET /a?x=${encodeURIComponent(script)}`)),
  row('in a field of a request', mixed, part(http, `GET /a HTTP/1.1|X-A: ${script}||`)),
  row(
    'in the body of a request',
    mixed,
    part(http, `POST /a HTTP/1.1|Content-Type: application/json||${escaped}`),
  ),
  row('in a nested part', mixed, part('Content-Type: multipart/mixed; boundary=C', nested(script))),
  row(
    'in a request of a change set',
    mixed,
    part(
      'Content-Type: multipart/mixed; boundary=C',
      `${part(http, `POST /a HTTP/1.1|Content-Type: application/json||${escaped}`, 'C')}--C--`,
    ),
  ),
  row(
    'in base64',
    mixed,
    part('Content-Transfer-Encoding: base64', Buffer.from(script).toString('base64')),
  ),
  row(
    'in quoted-printable',
    mixed,
    part('Content-Transfer-Encoding: quoted-printable', script.replaceAll('s', '=73')),
  ),
  row(
    'in a file name',
    mixed,
    part('Content-Disposition: attachment; filename="shell.php"', 'hello'),
  ),
  row('in a name', mixed, part(`Content-Disposition: form-data; name="${script}"`, 'hello')),
  row('in an identifier', mixed, part(`Content-ID: <script>alert(1)</script>`, 'hello')),
  row('in a field of a part', mixed, part(`X-Note: ${script}`, 'hello')),
  row('in a media type', mixed, part(`Content-Type: text/plain; a="${script}"`, 'hello')),
  row('in a message', mixed, part('Content-Type: message/rfc822', `Subject: ${script}||hello`)),
  row(
    'in what a message holds',
    mixed,
    part('Content-Type: message/rfc822', `Subject: a||${script}`),
  ),
  { title: 'in a preamble', type: mixed, body: `${script}|${body(part('', 'a'))}` },
  {
    title: 'in JSON before the first part',
    type: mixed,
    body: `${escaped}|${body(part('', 'a'))}`,
  },
  { title: 'in an epilogue', type: mixed, body: `${body(part('', 'a'))}${script}|` },
  { title: 'in JSON where no part is', type: mixed, body: escaped },
  { title: 'in text where no part is', type: mixed, body: script },
  row('in UTF-16', mixed, part('', Buffer.from(`\ufeff${script}`, 'utf16le').toString('latin1'))),
];

/** What readers cut in other places: refused, whatever it holds. */
export const differentRows: readonly MixedRow[] = [
  {
    title: 'line ends of one byte',
    type: mixed,
    body: '--B\nContent-Type: text/plain\n\nhi\n--B--\n',
  },
  { title: 'no last boundary', type: mixed, body: '--B||hello|' },
  row('a boundary within a line', mixed, part('', 'a --B b')),
  row('a boundary after a bare line end', mixed, part('', 'a\n--B|b')),
  { title: 'a longer boundary', type: mixed, body: `--Bx||a|${body(part('', 'b'))}` },
  {
    title: 'a part after the last',
    type: mixed,
    body: `${body(part('', 'a'))}${body(part('', 'b'))}`,
  },
  row('two types of a part', mixed, part('Content-Type: a/b|Content-Type: application/json', '{}')),
  row('a line that is no field', mixed, part('Content-Type', 'hello')),
  row('a header without its end', mixed, '--B|Content-Type: text/plain|'),
  row('a blank before the colon', mixed, part('Content-Type : text/plain', 'hello')),
  row('two boundaries', 'multipart/mixed; boundary=B; boundary=C', part('', 'a')),
  row('two boundaries, one extended', 'multipart/mixed; boundary=B; boundary*=C', part('', 'a')),
  row('an escape in the boundary', 'multipart/mixed; boundary="\\B"', part('', 'a')),
  row('UTF-7', mixed, part('Content-Type: text/plain; charset=utf-7', '+ADw-a+AD4-')),
  row(
    'two boundaries of a nested part',
    mixed,
    part('Content-Type: multipart/mixed; boundary=C; boundary=D', 'a'),
  ),
  row('no request in a part of one', mixed, part(http, 'hello there')),
];

/** A batch that is longer than what is held of a body, with a last part of its own. */
export function longRow(last: string): MixedRow {
  const ordinary = part(
    'Content-Type: application/http|Content-ID: <item:1@example.com>',
    'POST /farm/v1/animals HTTP/1.1|Content-Type: application/json||' +
      `{"animalName":"sheep","text":"${'grass and water '.repeat(600)}"}`,
  );
  return row('a long batch', mixed, ordinary.repeat(150), part(json, last));
}
