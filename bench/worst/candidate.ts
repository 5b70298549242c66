/**
 * What the search varies, and how it becomes the bytes of a request: one value and one name,
 * repeated until a size is reached, in one place of a request. Rendering is pure: the same
 * candidate, size and salt give the same bytes.
 */

/** Where the values stand. */
export const shapes = [
  'path',
  'query',
  'headers',
  'cookies',
  'form',
  'json',
  'multipart',
  'files',
  'xml',
  'text',
  'response',
  'answer',
] as const;

/** One of the places. */
export type Shape = (typeof shapes)[number];

/** A request as the search varies it. */
export interface Candidate {
  readonly shape: Shape;
  /** Items wanted; fewer where they do not fit. */
  readonly items: number;
  /** Pieces of a name, repeated up to `nameBytes`. */
  readonly name: readonly string[];
  readonly nameBytes: number;
  /** Stands once before the repeated pieces of a value. */
  readonly lead: string;
  /** Pieces of a value, repeated until the request has its size. */
  readonly value: readonly string[];
  /** Every item has a name and a value of its own. */
  readonly distinct: boolean;
  /** Items of one list, attributes of one element, cookies of one field. */
  readonly listed: boolean;
  /** Containers around the items: objects, elements, folders. */
  readonly depth: number;
  /** Bytes that have a meaning in the place are encoded, or stand as they are. */
  readonly encoded: boolean;
}

/** A request with the bytes of its answer, where the answer is what is inspected. */
export interface RenderedExchange {
  readonly wire: Buffer;
  /** Body of the answer. */
  readonly response: Buffer | null;
  /** Header lines of the answer beside the usual ones. */
  readonly responseLines?: readonly string[];
}

/** What a head may hold: the bounds of the front (`httpLimits`), with room for what is fixed. */
const headBytesMax = 64_500;
const targetBytesMax = 16_000;
const fieldsMax = 190;
/** A site's longest answer that the templates inspect. */
const responseBytesMax = 524_288;

interface Items {
  readonly count: number;
  readonly names: (at: number) => string;
  readonly values: (at: number) => string;
}

/** Renders a candidate so that request and inspected answer stay below `sizeMax` bytes. */
export function render(candidate: Candidate, sizeMax: number, salt: string): RenderedExchange {
  const make = renderers[candidate.shape];
  return make(candidate, sizeMax, salt);
}

const renderers: Record<Shape, (one: Candidate, size: number, salt: string) => RenderedExchange> = {
  path: (one, size, salt) => {
    const items = itemsOf(one, Math.min(size, targetBytesMax), salt, 1, 300);
    const parts = list(items, (at) => `/${target(one, items.values(at))}`);
    return request(`GET ${cut(parts.join(''), targetBytesMax)} HTTP/1.1`, [], null, '');
  },
  query: (one, size, salt) => {
    const items = itemsOf(one, Math.min(size, targetBytesMax), salt, 2, 300);
    const parts = list(items, (at) => {
      return `${target(one, items.names(at))}=${target(one, items.values(at))}`;
    });
    return request(`GET /?${cut(parts.join('&'), targetBytesMax)} HTTP/1.1`, [], null, '');
  },
  headers: (one, size, salt) => {
    const items = itemsOf(one, Math.min(size, headBytesMax), salt, 8, 300, fieldsMax);
    return request('GET / HTTP/1.1', fieldLines(one, items, commonFields), null, '');
  },
  cookies: (one, size, salt) => {
    const items = itemsOf(one, Math.min(size, headBytesMax), salt, 3, 300);
    const parts = list(items, (at) => {
      const value = fieldText(items.values(at)).replaceAll(';', one.encoded ? '%3B' : ',');
      return `${items.names(at).replaceAll(/[=;\s]/g, '_')}=${value}`;
    });
    return request('GET / HTTP/1.1', [`Cookie: ${parts.join('; ')}`], null, '');
  },
  form: (one, size, salt) => {
    const items = itemsOf(one, size, salt, 2, 400);
    const parts = list(
      items,
      (at) => `${form(one, items.names(at))}=${form(one, items.values(at))}`,
    );
    return posted('application/x-www-form-urlencoded', parts.join('&'), size);
  },
  json: (one, size, salt) => posted('application/json', jsonText(one, size, salt), size),
  multipart: (one, size, salt) => multipart(one, size, salt, false),
  files: (one, size, salt) => multipart(one, size, salt, true),
  xml: (one, size, salt) => posted('application/xml', xmlText(one, size, salt), size),
  text: (one, size, salt) => {
    const items = itemsOf(one, size, salt, 1, 400);
    return posted('text/plain', list(items, (at) => items.values(at)).join('\n'), size);
  },
  response: (one, size, salt) => {
    const items = itemsOf(one, Math.min(size, responseBytesMax), salt, 1, 600);
    const body = list(items, (at) => items.values(at)).join('\n');
    return request('GET / HTTP/1.1', [], null, '', Buffer.from(body, 'latin1'));
  },
  answer: (one, size, salt) => {
    const items = itemsOf(one, Math.min(size, headBytesMax), salt, 8, 300, fieldsMax);
    const responseLines = fieldLines(one, items, answerFields);
    const exchange = request('GET / HTTP/1.1', [], null, '', Buffer.from('ok'));
    return { ...exchange, responseLines };
  },
};

const commonFields = [
  ...['User-Agent', 'Referer', 'X-Forwarded-For', 'Accept', 'X-File-Name', 'Range', 'Origin'],
  ...['Authorization', 'Accept-Language', 'Accept-Encoding', 'If-None-Match', 'Cache-Control'],
];
const answerFields = ['Set-Cookie', 'Location', 'Server', 'ETag', 'Content-Disposition', 'Link'];

function fieldLines({ listed }: Candidate, items: Items, common: readonly string[]): string[] {
  return list(items, (at) => {
    const own = `X-${items.names(at).replaceAll(/[^A-Za-z0-9-]/g, '-')}`;
    const name = listed ? (common[at % common.length] ?? own) : own;
    return `${name}: ${fieldText(items.values(at))}`;
  });
}

function itemsOf(
  { items, name, nameBytes, lead, value, distinct }: Candidate,
  size: number,
  salt: string,
  extra: number,
  fixed: number,
  most = 1_000,
): Items {
  const room = Math.max(64, size - fixed);
  const count = Math.max(1, Math.min(items, most, Math.floor(room / (nameBytes + extra + 8))));
  const each = Math.max(0, Math.floor(room / count) - nameBytes - extra);
  const number = (at: number): string => (distinct ? at.toString(36) : '');
  const nameText = fill('', name, nameBytes - salt.length - (distinct ? 2 : 0));
  const valueText = fill(lead, value, each - salt.length - (distinct ? 2 : 0));
  return {
    count,
    names: (at) => `${nameText}${salt}${number(at)}`,
    values: (at) => `${number(at)}${salt}${valueText}`,
  };
}

/** Joins the pieces one after the other and repeats them up to a size. */
function fill(lead: string, pieces: readonly string[], size: number): string {
  const unit = pieces.join('');
  if (size <= 0) return '';
  if (unit === '') return lead.slice(0, size);
  return `${lead}${unit.repeat(Math.ceil(size / unit.length))}`.slice(0, size);
}

function list(items: Items, write: (at: number) => string): string[] {
  return Array.from({ length: items.count }, (_, at) => write(at));
}

function cut(text: string, size: number): string {
  return text.length > size ? text.slice(0, size) : text;
}

function target({ encoded }: Candidate, text: string): string {
  const special = encoded ? /[^A-Za-z0-9]/g : /[^\x21-\x7e]|#/g;
  return text.replaceAll(special, percent);
}

function form({ encoded }: Candidate, text: string): string {
  return text.replaceAll(encoded ? /[^A-Za-z0-9]/g : /[&+%=]/g, percent);
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

function fieldText(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ' ').trim();
}

function jsonText(one: Candidate, size: number, salt: string): string {
  const { depth, listed } = one;
  const around = Math.min(depth, 200);
  const room = size - around * (one.nameBytes + 8);
  // Items of a list have their name once for all.
  const items = listed
    ? itemsOf(one, room - one.nameBytes, salt, 3 - one.nameBytes, 400)
    : itemsOf(one, room, salt, 8, 400);
  const open = Array.from({ length: around }, (_, at) => `{${json(items.names(at))}:`).join('');
  const inner = listed
    ? `{${json(items.names(0))}:[${list(items, (at) => json(items.values(at))).join(',')}]}`
    : `{${list(items, (at) => `${json(items.names(at))}:${json(items.values(at))}`).join(',')}}`;
  return `${open}${inner}${'}'.repeat(around)}`;
}

function json(text: string): string {
  return JSON.stringify(text);
}

function xmlText(one: Candidate, size: number, salt: string): string {
  const { depth, listed, encoded } = one;
  const items = itemsOf(one, size - 2 * depth * (one.nameBytes + 3), salt, 6 + one.nameBytes, 400);
  const tag = (at: number): string => `a${items.names(at).replaceAll(/[^A-Za-z0-9]/g, '')}`;
  const text = (at: number): string => {
    return items.values(at).replaceAll(/[<>&"\0-\x08\x0b-\x1f]/g, (c) => `&#${c.charCodeAt(0)};`);
  };
  const open = Array.from({ length: depth }, (_, at) => `<${tag(at)}>`).join('');
  const close = Array.from({ length: depth }, (_, at) => `</${tag(depth - 1 - at)}>`).join('');
  if (listed) {
    const attributes = list(items, (at) => `${tag(at)}x${at}="${text(at)}"`).join(' ');
    return `<r>${open}<e ${attributes}/>${encoded ? close : ''}</r>`;
  }
  const elements = list(items, (at) => {
    return encoded ? `<${tag(at)}>${text(at)}</${tag(at)}>` : `<${tag(at)}>${text(at)}`;
  });
  return `<r>${open}${elements.join('')}${encoded ? close : ''}</r>`;
}

function multipart(one: Candidate, size: number, salt: string, files: boolean): RenderedExchange {
  const items = itemsOf(one, size, salt, files ? 160 : 70, 400);
  const parts = list(items, (at) => {
    const name = items.names(at).replaceAll(/[^A-Za-z0-9 .[\]_-]/g, '_');
    const file = files ? `; filename="${name}"\r\nContent-Type: text/plain` : '';
    const value = items.values(at).replaceAll(/[\r\n]/g, ' ');
    return `--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  return posted('multipart/form-data; boundary=b', `${parts.join('')}--b--\r\n`, size);
}

function posted(type: string, text: string, size: number): RenderedExchange {
  const charset = type.endsWith('json') || type.endsWith('xml') ? 'utf8' : 'latin1';
  const body = Buffer.from(text, charset).subarray(0, size - 300);
  return request('POST / HTTP/1.1', [`Content-Length: ${body.length}`], body, type);
}

function request(
  line: string,
  fields: readonly string[],
  body: Buffer | null,
  type: string,
  response: Buffer | null = null,
): RenderedExchange {
  const head = [
    line,
    'Host: www.example.com',
    'User-Agent: Mozilla/5.0',
    'Accept: */*',
    ...(type === '' ? [] : [`Content-Type: ${type}`]),
    ...fields,
    '',
    '',
  ].join('\r\n');
  const bytes = Buffer.from(head, 'latin1');
  return { wire: body === null ? bytes : Buffer.concat([bytes, body]), response };
}
