/**
 * The pages of challenges as HTML. They hold nothing that a request sent but what is sealed,
 * nothing inline that runs, and nothing of a third party unless a verifier is set up; they work at
 * 320 pixels, by keyboard and, but for verifiers, without script.
 */

import { Buffer } from 'node:buffer';
import { botLimits } from '../../../base/guard-limits.ts';
import type { VerifierConfig } from '../../contract/bot.ts';
import type { GuardPage } from '../../contract/guard.ts';
import { ownPath } from './own-paths.ts';
import type { PageTexts } from './page-texts.ts';
import { originsOf, scriptUrlOf, verifierAction, widgetOf } from './verifier-services.ts';

/** Content-Security-Policy of the pages. */
export const pagePolicy = [
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; media-src 'self'",
  "img-src 'none'; connect-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
].join('; ');

/** Fields of every page and of what it loads. */
export const pageFields: readonly (readonly [name: string, value: string])[] = [
  ['Content-Security-Policy', pagePolicy],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Robots-Tag', 'noindex'],
  ['Vary', 'Accept, Accept-Language, Cookie'],
];

/** Fields of the page of a challenge; `verifier`: null where it loads nothing of others. */
export function fieldsFor(verifier: VerifierConfig | null): typeof pageFields {
  if (verifier === null) return pageFields;
  const origins = originsOf(verifier).join(' ');
  const policy = [
    `default-src 'none'; script-src 'self' ${origins}; frame-src ${origins}; worker-src 'self'`,
    `style-src 'self' ${origins}; connect-src ${origins}; img-src 'none'; media-src 'none'`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
  const own = new Map([
    ['Content-Security-Policy', policy],
    // The service may look at the origin that its frame is on; the sealed challenge stays here.
    ['Referrer-Policy', 'strict-origin'],
  ]);
  return pageFields.map(([name, value]) => [name, own.get(name) ?? value] as const);
}

/** What a page shows. */
export interface ChallengePage {
  readonly texts: PageTexts;
  /** The sealed challenge; its characters mean nothing in HTML. */
  readonly token: string;
  readonly id: string;
  readonly bits: number;
  /** Clients without script may wait instead. */
  readonly takesWaits: boolean;
  /** Numbers to add; null for a check of the browser. */
  readonly question: readonly [number, number] | null;
  /** Asks in place of the question; null for none. */
  readonly verifier: VerifierConfig | null;
}

/** The page of a challenge. */
export function challengePage(page: ChallengePage): GuardPage {
  if (page.verifier !== null) return verifierPage(page, page.verifier);
  return page.question === null ? browserPage(page) : humanPage(page, page.question);
}

/** A page that continues by itself: the answer is right and came too early for a wait. */
export function momentPage(texts: PageTexts, path: string, seconds: number): GuardPage {
  const refresh = `<meta http-equiv="refresh" content="${seconds};url=${escapeText(path)}">`;
  const body = `<p>${fillIn(texts.about, seconds)}</p>`;
  return htmlPage(texts.lang, texts.title, refresh, `<main><h1>${texts.title}</h1>${body}</main>`);
}

function browserPage({ texts, token, id, bits, takesWaits }: ChallengePage): GuardPage {
  const wait = `${ownPath('wait')}?token=${token}`;
  const seconds = Math.ceil(botLimits.waitMs / 1000) + 1;
  const head = takesWaits
    ? `<noscript><meta http-equiv="refresh" content="${seconds};url=${wait}"></noscript>`
    : '';
  const noscript = takesWaits
    ? `<p>${fillIn(texts.wait, seconds)}</p><p><a href="${wait}">${texts.proceed}</a></p>`
    : `<p>${texts.scriptNeeded}</p>`;
  const body =
    `<main ${dataOf(texts, id, bits, `${ownPath('pass')}?token=${token}`)}>` +
    `<h1>${texts.title}</h1><p>${texts.why}</p>` +
    `<p id="state" role="status"></p><progress id="bar" max="1" value="0" ` +
    `aria-label="${texts.title}"></progress><noscript>${noscript}</noscript></main>`;
  return htmlPage(texts.lang, texts.title, `${head}${scriptTag}`, body);
}

function humanPage(
  { texts, token, id, bits, takesWaits }: ChallengePage,
  [first, second]: readonly [number, number],
): GuardPage {
  const question = texts.question
    .replace('{a}', texts.numbers[first - 2]!)
    .replace('{b}', texts.numbers[second - 2]!);
  const noscript = takesWaits ? '' : `<noscript><p>${texts.scriptNeeded}</p></noscript>`;
  const body =
    `<main ${dataOf(texts, id, bits, '')}>` +
    `<h1>${texts.humanTitle}</h1><p>${texts.humanWhy}</p>` +
    `<form method="get" action="${ownPath('answer')}">` +
    `<input type="hidden" name="token" value="${token}">` +
    `<input type="hidden" name="nonce" id="nonce" value="">` +
    `<label for="answer">${question}</label>` +
    `<input id="answer" name="answer" inputmode="numeric" pattern="[0-9]*" maxlength="4" ` +
    `autocomplete="off" required aria-describedby="hint"><p id="hint">${texts.hint}</p>` +
    `<p id="tones">${texts.tones}</p><audio controls preload="none" aria-labelledby="tones" ` +
    `src="${ownPath('sound')}?token=${token}"></audio>` +
    `<button type="submit">${texts.proceed}</button></form>` +
    `<p id="state" role="status"></p>${noscript}</main>`;
  return htmlPage(texts.lang, texts.humanTitle, scriptTag, body);
}

function verifierPage(
  { texts, token, id, bits }: ChallengePage,
  verifier: VerifierConfig,
): GuardPage {
  const { siteKey, fallback } = verifier;
  const { className } = widgetOf(verifier);
  const key = escapeText(siteKey);
  const answer = `${ownPath('answer')}?token=${token}`;
  const widget =
    className === ''
      ? ''
      : `<div class="${className}" data-sitekey="${key}" data-language="${texts.lang}" ` +
        'data-callback="wafVerified" data-expired-callback="wafExpired" ' +
        'data-error-callback="wafUnverified"></div>';
  const instead = fallback ? ` data-instead="${answer}"` : '';
  const link = fallback ? `<p><a href="${answer}">${texts.questionInstead}</a></p>` : '';
  const scored = className === '' ? ` data-score-key="${key}"` : '';
  const from = escapeText(new URL(verifier.scriptUrl).host);
  const body =
    `<main ${dataOf(texts, id, bits, answer)}${instead}${scored} data-action="${verifierAction}">` +
    `<h1>${texts.humanTitle}</h1><p>${texts.verifierWhy.replace('{host}', from)}</p>${widget}` +
    `<p id="state" role="status"></p>${link}` +
    `<noscript><p>${texts.scriptNeeded}</p></noscript></main>`;
  const source = escapeText(scriptUrlOf(verifier, texts.lang));
  const vendor = `<script id="vendor" src="${source}" defer></script>`;
  return htmlPage(texts.lang, texts.humanTitle, `${scriptTag}${vendor}`, body);
}

const scriptTag = `<script src="${ownPath('check.js')}" defer></script>`;

function dataOf(texts: PageTexts, id: string, bits: number, next: string): string {
  const said = `data-about="${texts.about}" data-working="${texts.working}"`;
  return (
    `data-id="${id}" data-bits="${bits}" data-next="${next}" ` +
    `data-worker="${ownPath('solve.js')}" ${said} data-failed="${texts.failed}"`
  );
}

function fillIn(text: string, seconds: number): string {
  return text.replace('{s}', String(seconds));
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

function htmlPage(lang: string, title: string, head: string, body: string): GuardPage {
  const text =
    `<!doctype html>\n<html lang="${lang}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta name="robots" content="noindex"><title>${title}</title>` +
    `<link rel="stylesheet" href="${ownPath('check.css')}">${head}</head>` +
    `<body>${body}</body></html>\n`;
  return { contentType: 'text/html; charset=utf-8', body: Buffer.from(text) };
}
