/** Texts that attack a page that shows them: ten payloads in twenty wrappings. */

const run = 'window.ran=1';

const payloads: readonly string[] = [
  `<script>${run}</script>`,
  `<img src=x onerror=${run}>`,
  `<svg/onload=${run}>`,
  `<style>*{display:none}</style>`,
  `<iframe srcdoc="<script>parent.${run}</script>"></iframe>`,
  `<details open ontoggle=${run}>`,
  `javascript:${run}`,
  `<a href="javascript:${run}">x</a>`,
  `<b style="position:fixed;inset:0">moved</b>`,
  `<input autofocus onfocus=${run}>`,
];

const wrappings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `">${text}`,
  (text) => `'>${text}`,
  (text) => `</td></tr></table>${text}`,
  (text) => `</title></style></textarea></script>${text}`,
  (text) => `<!--${text}-->`,
  (text) => `<![CDATA[${text}]]>`,
  (text) => `{{${text}}}`,
  (text) => `\${${text}}`,
  (text) => `\u202e${text}\u202c`,
  (text) => `\u2066${text}\u2069`,
  (text) => `\u200b${text}\ufeff`,
  (text) => `\u001b[31m${text}\u0007`,
  (text) => `\u0000${text}`,
  (text) => `\r\nSet-Cookie: a=1\r\n\r\n${text}`,
  (text) => `\u{e0041}${text}`,
  (text) => `${'A'.repeat(2000)}${text}`,
  (text) => `\uff1c${text.replaceAll('<', '\uff1c')}`,
  (text) => text.toUpperCase(),
  (text) => `${text}\ufffd\udfff`,
];

/** Two hundred texts. */
export const attackTexts: readonly string[] = wrappings.flatMap((wrap) =>
  payloads.map((payload) => wrap(payload)),
);

/** The text as a part of an address, in percent escapes; a lone surrogate is invalid UTF-8. */
export const escaped = (text: string): string =>
  text
    .split(/(\udfff)/)
    .map((part) => (part === '\udfff' ? '%ff%fe' : encodeURIComponent(part)))
    .join('');

/** The text as a field's value: control characters cannot stand there. */
export const asField = (text: string): string =>
  Buffer.from(text.replace(/\p{Cc}|\udfff/gu, ''), 'utf8').toString('latin1');
