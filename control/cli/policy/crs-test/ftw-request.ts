/** How a go-ftw stage becomes bytes: autocompletion, form encoding, templates. */

import { commandLineLimits } from '../../../limits/command-limits.ts';
import { recordOf, scalarText, textOrNull } from './case.ts';

/** The bytes, or why they cannot be made. */
export type RenderedWire =
  | { readonly bytes: Buffer; readonly problem: null }
  | { readonly bytes: null; readonly problem: string };

/** Renders an input. Never throws. */
export function renderWire(input: Readonly<Record<string, unknown>>): RenderedWire {
  const encoded = textOrNull(input['encoded_request']);
  if (encoded !== null) return { bytes: Buffer.from(encoded, 'base64'), problem: null };
  const raw = textOrNull(input['raw_request']);
  if (raw !== null) return { bytes: Buffer.from(raw, 'utf8'), problem: null };

  const headers = readHeaders(input['headers']);
  const has = (name: string): boolean => headers.some(([one]) => one.toLowerCase() === name);
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const data = readData(input, type);
  if (typeof data === 'string') return { bytes: null, problem: data };

  const autocomplete = input['autocomplete_headers'] !== false && input['stop_magic'] !== true;
  if (autocomplete) {
    if (!has('connection')) headers.push(['Connection', 'close']);
    if (data.length > 0 && !has('content-length') && !has('transfer-encoding')) {
      headers.push(['Content-Length', String(data.length)]);
    }
  }
  const method = textOrNull(input['method']) ?? 'GET';
  const uri = textOrNull(input['uri']) ?? '/';
  const version = typeof input['version'] === 'string' ? input['version'] : 'HTTP/1.1';
  const lines = [
    `${method} ${uri} ${version}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(lines.join('\r\n') + '\r\n\r\n', 'utf8');
  return { bytes: Buffer.concat([head, data]), problem: null };
}

function readHeaders(value: unknown): [string, string][] {
  if (Array.isArray(value)) {
    return value.map(recordOf).map((one) => [scalarText(one['name']), scalarText(one['value'])]);
  }
  return Object.entries(recordOf(value)).map(([name, one]) => [name, scalarText(one)]);
}

/** The body, or the reason why there is none. */
function readData(input: Readonly<Record<string, unknown>>, type: string): Buffer | string {
  const encoded = textOrNull(input['encoded_data']);
  if (encoded !== null) return Buffer.from(encoded, 'base64');
  const raw = input['data'];
  const lines = Array.isArray(raw) ? raw.map(scalarText).join('\r\n') : scalarText(raw);
  const text = expandTemplate(lines);
  if (text === null) return 'its data uses a template that is not known';
  if (/^multipart\/form-data/i.test(type)) {
    return Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'utf8');
  }
  const plain = input['stop_magic'] === true || type !== 'application/x-www-form-urlencoded';
  return Buffer.from(plain ? text : encodeForm(text), 'utf8');
}

/** Forms written in clear are encoded; what is encoded already stays as it is. */
function encodeForm(text: string): string {
  if (text === '' || decodeFormText(text) !== text) return text;
  const pairs = text.split('&').map((pair) => {
    const cut = pair.indexOf('=');
    return cut < 0 ? [pair, ''] : [pair.slice(0, cut), pair.slice(cut + 1)];
  });
  if (text.includes(';') || pairs.some(([, value]) => value === '')) return text;
  const sorted = pairs.toSorted(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.map(([name = '', value = '']) => `${formText(name)}=${formText(value)}`).join('&');
}

function decodeFormText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function formText(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Knows `{{ "x" | repeat 10 }}` and `{{ repeat 10 "x" }}`; null for any other template. */
function expandTemplate(text: string): string | null {
  let known = true;
  const expanded = text.replace(/\{\{(.*?)\}\}/gs, (_all, inside: string) => {
    const piped = /^-?\s*"((?:[^"\\]|\\.)*)"\s*\|\s*repeat\s+(\d+)\s*-?$/.exec(inside.trim());
    const called = /^-?\s*repeat\s+(\d+)\s+"((?:[^"\\]|\\.)*)"\s*-?$/.exec(inside.trim());
    const word = piped?.[1] ?? called?.[2];
    const times = Number(piped?.[2] ?? called?.[1]);
    if (word === undefined || times * word.length > commandLineLimits.templateBytesMax) {
      known = false;
      return '';
    }
    return word.repeat(times);
  });
  // Braces that are part of an attack (`{{7*7}}`) are no template: the text stays as it is.
  return known ? expanded : /\{\{.*\b(repeat|randBytes|base64)\b/s.test(text) ? null : text;
}
