/** A request as a line of curl that a shell reads as data, whatever an attacker sent. Pure. */

/** What the line says of the request. */
export interface CurlRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
}

/** Fields that curl sets by itself, or that must not be sent twice. */
const left = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);
/** Values that are no secret of the client; others are left out. */
const secret = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** The line; secrets of the client are not in it. */
export function curlOf(
  { method, host, path }: CurlRequest,
  headers: readonly { readonly name: string; readonly values: readonly string[] }[],
): string {
  const fields = headers
    .filter(({ name }) => !left.has(name.toLowerCase()) && !secret.has(name.toLowerCase()))
    .flatMap(({ name, values }) => values.map((value) => `-H ${quoted(`${name}: ${value}`)}`));
  const parts = ['curl -i', '-X', quoted(method), ...fields, quoted(`http://${host}${path}`)];
  return parts.join(' ');
}

/** As one word of a POSIX shell; control characters are dropped, since they end or forge lines. */
function quoted(text: string): string {
  const plain = text.replace(/\p{Cc}/gu, '');
  return `'${plain.replaceAll("'", String.raw`'\''`)}'`;
}
