/** The forms that an attack is put into: prose, filler, encodings. */

const prose = 'Thank you for the quick answer, we will look at it on Monday';
const filler = 'lorem ipsum dolor sit amet '.repeat(186);
const percent = (text: string): string =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const json = (text: string): string => JSON.stringify({ id: 7, note: text });
/** Base64 of the bytes of a text. */
export const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');

/** Payload in, value out. A payload of bytes that are no text in a form is left as it is. */
export const attackForms: Readonly<Record<string, (text: string) => string>> = {
  'with prose before': (text) => `${prose} ${text}`,
  'with filler before': (text) => `${filler} ${text}`,
  'with prose behind': (text) => `${text} ${prose}`,
  'with filler behind': (text) => `${text} ${filler}`,
  'with filler in a string behind': (text) => `${text} ${filler}'-- -`,
  'in JSON': json,
  'in JSON in JSON': (text) => json(json(text)),
  'in base64': base64,
  'in base64 of JSON': (text) => base64(json(text)),
  'percent-encoded twice': (text) => percent(percent(text)),
  'in the query of a URL': (text) => `https://shop.example/p?a=1&q=${percent(text)}&z=2`,
  'in a form': (text) => `a=1&q=${percent(text)}&z=2`,
  'in a cookie': (text) => `a=1; q=${percent(text)}; z=2`,
  'in a part': (text) =>
    `--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n${text}\r\n--x--\r\n`,
  'in XML': (text) => `<?xml version="1.0"?><a><b>${entities(text)}</b></a>`,
  'in JSON that breaks off': (text) => `{"id":7,"note":${JSON.stringify(text)},"more":"ab`,
  'in a string that breaks off': (text) => `{"id":7,"note":${JSON.stringify(text).slice(0, -1)}`,
};
