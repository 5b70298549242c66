/** The date of answers, written once a second: it is the same for all of them. */

let second = -1;
let text = '';

/** IMF-fixdate of a moment. `ms`: since 1970. Source: RFC 9110 section 5.6.7. */
export function httpDate(ms: number): string {
  const now = Math.floor(ms / 1000);
  if (now !== second) {
    second = now;
    text = new Date(ms).toUTCString();
  }
  return text;
}
