/**
 * Serves the console: files that set-up built, read into memory once, under names that hold their
 * hash. Every other address that a browser asks for as a page gets the console's own page, which
 * reads the address. Knows nothing of what the pages do.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { NodeRequest, NodeResponse } from './node-http.ts';

interface Page {
  readonly type: string;
  readonly plain: Buffer;
  /** By content coding. */
  readonly packed: ReadonlyMap<string, Buffer>;
}

/** Answers a request for the console; false for all others. */
export type ConsolePages = (request: NodeRequest, response: NodeResponse) => boolean;

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
/** Codings that were made at build time, the smaller first, with the ending of their files. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Where set-up puts the pages, from compiled code and from sources. */
const folders = ['../../../console/', '../../../.build/console/'].map(
  (path) => new URL(path, import.meta.url),
);

/** Addresses of the API and of programs: never a page, whatever is asked for. */
const notPages = /^\/(?:waf\.|api\/|download|bootstrap|auth\/|healthz|readyz|metrics|debug)/;

/** Nothing from elsewhere, nothing inline; strings become no markup and no code. */
const pagePolicy = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src'].map((name) => `${name} 'self'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

/** The console as it was built; answers nothing where it was not. */
export function openConsole(places: readonly URL[] = folders): ConsolePages {
  const folder = places.find((place) => existsSync(new URL('index.html', place)));
  const pages = folder === undefined ? new Map<string, Page>() : readPages(folder);
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const page = pages.get(nameOf(path, request));
    if (page === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    send(page, path.startsWith('/assets/'), request, response);
    return true;
  };
}

/** The file for a path; '' for what the console does not answer. */
function nameOf(path: string, request: NodeRequest): string {
  if (path.startsWith('/assets/')) return path.slice('/assets/'.length);
  const wantsPage = path === '/' || String(request.headers.accept ?? '').includes('text/html');
  return wantsPage && !notPages.test(path) ? 'index.html' : '';
}

function readPages(folder: URL): Map<string, Page> {
  const names = new Set(readdirSync(folder));
  const pages = new Map<string, Page>();
  for (const name of names) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined) continue;
    const packed = codings.flatMap(([coding, ending]) =>
      names.has(name + ending)
        ? [[coding, readFileSync(new URL(name + ending, folder))] as const]
        : [],
    );
    const plain = readFileSync(new URL(name, folder));
    pages.set(name, { type, plain, packed: new Map(packed) });
  }
  return pages;
}

function send(page: Page, hashed: boolean, request: NodeRequest, response: NodeResponse): void {
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map((part) => part.trim().toLowerCase());
  const coding = codings.find(([name]) => accepted.includes(name) && page.packed.has(name))?.[0];
  const body = coding === undefined ? page.plain : page.packed.get(coding)!;
  response.statusCode = 200;
  response.setHeader('content-type', page.type);
  response.setHeader('content-length', body.length);
  response.setHeader('vary', 'accept-encoding');
  if (coding !== undefined) response.setHeader('content-encoding', coding);
  response.setHeader('content-security-policy', pagePolicy);
  response.setHeader('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  response.end(request.method === 'HEAD' ? '' : body);
}
