/** Multipart spellings that some backends read as a field and others as a file, by name. */

import type { BedRequest } from './request.ts';

function request(disposition: string, content = 'content'): BedRequest {
  const field = `Content-Disposition: form-data; ${disposition}`;
  const last = '--B\r\nContent-Disposition: form-data; name="last"\r\n\r\nlast\r\n--B--\r\n';
  const body = `--B\r\n${field}\r\nContent-Type: text/plain\r\n\r\n${content}\r\n${last}`;
  return {
    kind: 'multipart',
    method: 'POST',
    target: '/',
    headers: [['Content-Type', 'multipart/form-data; boundary=B']],
    body: Buffer.from(body, 'latin1'),
  };
}

const inner = '--B\r\nContent-Disposition: form-data; name="inner"\r\n\r\ninner';

/** Each is refused under Standard; under Light refused, or inspected as all backends read it. */
export const namedCases: readonly (readonly [name: string, request: BedRequest])[] = [
  ['extended file name', request(`name="a"; filename*=utf-8''f`)],
  ['extended file name in UTF-16', request(`name="a"; filename*=utf-16le''f1f%00; filename="f"`)],
  ['blank before the equals sign', request('name="a"; filename ="f"')],
  ['blank after the equals sign', request('name="a"; filename= "f"')],
  ['tab before the equals sign', request('name="a"; filename\t="f"')],
  ['empty name, then another', request('name=""; name="a"; filename="f"')],
  ['empty file name, then another', request('name="a"; filename=""; filename="f"')],
  ['empty file name with content', request('name="a"; filename=""')],
  ['backslash before a quote', request('name="a\\\\"; filename="f"')],
  ['escaped quote', request('name="a\\"; filename="f"')],
  ['bare CR before a boundary', request('name="a"; filename="f"', `x\r${inner}`)],
  ['bare CR after a line like a boundary', request('name="a"; filename="f"', `--\r\nx\r${inner}`)],
  ['bare LF before a boundary', request('name="a"; filename="f"', `x\n${inner}`)],
  ['boundary within a line', request('name="a"; filename="f"', `x ${inner}`)],
];
