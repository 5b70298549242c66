/** A local stand-in for a service that tells people from programs. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VerifierConfig, VerifierKind } from '../../engine/contract/bot.ts';

/** A service that answers as the test says. */
export interface VerifierStub {
  readonly port: number;
  /** The forms that were posted, in order. */
  readonly forms: URLSearchParams[];
  /** Answers the next questions: an object is sent as JSON with status 200. */
  answer: object | ((response: ServerResponse) => void);
  /** The service as sites use it. */
  config(change?: Partial<VerifierConfig>): VerifierConfig;
  close(): Promise<void>;
}

const script: Readonly<Record<string, string>> = {
  // A widget that asks for one click, in the way of the services: by a class and named callbacks.
  '/api.js': `for (const place of document.querySelectorAll('[data-sitekey]')) {
    const button = document.createElement('button');
    button.textContent = 'I am a person';
    button.addEventListener('click', () => window[place.dataset.callback]('given.to-a_person'));
    place.append(button);
  }`,
  '/score.js': `window.grecaptcha = {
    ready: (run) => run(),
    execute: async (key, { action }) => 'scored.' + key + '.' + action,
  };`,
};

/** Starts one on this machine. */
export async function startVerifierStub(): Promise<VerifierStub> {
  const forms: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]!;
    if (request.method === 'GET') {
      const text = script[path];
      response.writeHead(text === undefined ? 404 : 200, { 'Content-Type': 'text/javascript' });
      response.end(text);
      return;
    }
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      forms.push(new URLSearchParams(body));
      if (typeof stub.answer === 'function') {
        stub.answer(response);
        return;
      }
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(stub.answer));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const config = (change: Partial<VerifierConfig> = {}): VerifierConfig => ({
    id: 'stub',
    kind: 'turnstile' as VerifierKind,
    siteKey: 'site-key',
    secret: 'hidden',
    scriptUrl: `http://127.0.0.1:${port}/api.js`,
    verifyUrl: `http://127.0.0.1:${port}/siteverify`,
    minScore: 0.5,
    fallback: true,
    allowedNetworks: ['127.0.0.1/32'],
    ...change,
  });
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((done) => server.close(() => done()));
  };
  const stub: VerifierStub = { port, forms, answer: {}, config, close };
  return stub;
}
