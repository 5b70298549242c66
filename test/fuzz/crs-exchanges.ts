/**
 * The exchanges that policies over CRS are tried with: requests of the corpora, their payloads
 * in other places, usual requests, answers that leak. Draws from dice; reads no rule.
 */

import type { Exchange } from '../../engine/rules/oracle/evaluate.ts';
import type { Dice } from '../agree/random-changes.ts';
import { stageExchange, type CrsStage } from '../seclang/crs-run.ts';
import {
  encodePairs,
  formBody,
  jsonBody,
  multipartBody,
  toExchange,
  type TypedBody,
  xmlBody,
} from './random-requests.ts';

/** What exchanges are made of. */
export interface ExchangePool {
  readonly recorded: readonly Exchange[];
  readonly payloads: readonly string[];
  readonly answers: readonly Pick<Exchange, 'response' | 'responseBody'>[];
}

const payloadBytesMax = 2000;

/** The pool of a corpus; what the parser refuses is left out. */
export function makePool(stages: readonly CrsStage[], payloads: readonly string[]): ExchangePool {
  const recorded: Exchange[] = [];
  const answers: ExchangePool['answers'][number][] = [];
  for (const stage of stages) {
    const exchange = stageExchange(stage);
    if ('refusal' in exchange) continue;
    const { request, response, responseBody } = exchange;
    recorded.push({ ...exchange, request: { ...request, receivedAtMs: 1_700_000_000_000 } });
    if (stage.reflected_response) answers.push({ response, responseBody });
  }
  const texts = payloads.map((text) => Buffer.from(text, 'utf8').toString('latin1'));
  return { recorded, answers, payloads: texts.filter((text) => text.length <= payloadBytesMax) };
}

/** One exchange. */
export function drawExchange(dice: Dice, pool: ExchangePool): Exchange {
  const exchange = dice.below(2) === 0 ? dice.pick(pool.recorded) : madeExchange(dice, pool);
  if (dice.below(4) > 0) return exchange;
  return { ...exchange, ...dice.pick(pool.answers) };
}

const keys = ['x', 'a', 'q', 'id', 'user', 'own', 'z[]'];

function madeExchange(dice: Dice, pool: ExchangePool): Exchange {
  const text = (): string => (dice.below(2) === 0 ? dice.pick(pool.payloads) : dice.pick(usual));
  const pairs = (max: number): [string, string][] => {
    return Array.from({ length: dice.below(max + 1) }, () => [dice.pick(keys), text()]);
  };
  const headers: [string, string][] = [['Host', dice.pick(['localhost', '10.1.2.3', ''])]];
  const field = (name: string): number => headers.push([name, text().replace(/[\r\n\0]/g, ' ')]);
  if (dice.below(8) > 0) headers.push(['User-Agent', dice.pick(agents)]);
  if (dice.below(3) === 0) headers.push(['Cookie', `x=${encodeURIComponent(ascii(text()))}; a=1`]);
  if (dice.below(4) === 0)
    field(dice.pick(['Referer', 'X-A', 'Accept', 'Proxy', 'Accept-Charset']));
  const query = pairs(3);
  const body = dice.below(2) === 0 ? drawBody(dice, pairs(4), text()) : null;
  if (body) headers.push(['Content-Type', body.type], ['Content-Length', String(body.text.length)]);
  const path = dice.pick(['/', '/a', '/index.php', '/a/b.bak', '/x/../etc/passwd', '/.git/config']);
  return toExchange({
    method: body ? dice.pick(['POST', 'POST', 'PUT']) : dice.pick(['GET', 'GET', 'HEAD', 'PATCH']),
    target: query.length === 0 ? path : `${path}?${encodePairs(query)}`,
    headers,
    body: body?.text ?? null,
    response: dice.below(3) === 0 ? { type: 'text/html', body: 'ok' } : null,
  });
}

function drawBody(dice: Dice, pairs: [string, string][], text: string): TypedBody {
  const kind = dice.below(7);
  if (kind < 2) return formBody(pairs);
  if (kind === 2) return jsonBody(pairs);
  if (kind === 3) return multipartBody(pairs);
  if (kind === 4) return xmlBody(pairs);
  if (kind === 5) return { type: 'application/json', text: `{"a":{"b":[1,{"c":"x"}]},` };
  return { type: dice.pick(['text/plain', 'application/x-www-form-urlencoded; charset=x']), text };
}

function ascii(text: string): string {
  return text.replace(/[^ -~]/g, '.');
}

const agents = ['Mozilla/5.0 (X11; Linux x86_64)', 'curl/8', 'sqlmap/1.0', 'Nikto', ''];
const usual = [
  '1',
  'hello world',
  'a@b.example',
  '2024-01-02',
  'x',
  '',
  'select',
  '4111111111111111',
];
