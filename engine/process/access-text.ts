/** How values are written into lines of the access log, whatever a client sent. Pure. */

/** What could end a quoted part or a line, or reach a terminal, as `\xHH`, as nginx does. */
export function escaped(bytes: string): string {
  return /[^ !#-[\]-~]/.test(bytes) ? bytes.replace(/[^ !#-[\]-~]/g, byteEscape) : bytes;
}

function byteEscape(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The second that was written last: lines come many a second. */
const lastTime = { second: -1, text: '' };

/** `22/Nov/2026:16:04:29 +0000`; always in UTC. */
export function commonTime(atMs: number): string {
  const second = Math.floor(atMs / 1000);
  if (lastTime.second === second) return lastTime.text;
  const iso = new Date(second * 1000).toISOString();
  const month = months[Number(iso.slice(5, 7)) - 1]!;
  lastTime.second = second;
  lastTime.text = `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
  return lastTime.text;
}
