/** Which field the API refused: its messages begin with the path of a field. Pure. */

/** What a form's field is called, there and in the API. */
interface Named {
  readonly name: string;
  readonly api?: readonly string[];
}

/** The field that a message is about, with what is wrong with it. */
export interface RefusedField {
  readonly name: string;
  readonly problem: string;
}

/** The field that a message of the API names; null where it names none of them. */
export function refusedField(message: string, fields: readonly Named[]): RefusedField | null {
  const { path, problem } = partsOfRefusal(message);
  if (path === '') return fieldOfPlace(message, fields);
  const parts = path.split(/[.[\]]+/).filter((part) => part !== '' && !/^\d+$/.test(part));
  // The innermost part says most.
  for (const part of parts.toReversed()) {
    const found = fields.find(({ name, api = [] }) => name === part || api.includes(part));
    if (found !== undefined) return { name: found.name, problem };
  }
  return null;
}

/** The field of a message that begins with its name and a place in its text: `source:3:14: …`. */
function fieldOfPlace(message: string, fields: readonly Named[]): RefusedField | null {
  const [, text] = /^([a-z]\w*):\d+:\d+: /.exec(message) ?? [];
  const found = fields.find(({ name }) => name === text);
  return found === undefined ? null : { name: found.name, problem: message };
}

/** The path that a message begins with, '' for none, and what is wrong there. */
export function partsOfRefusal(message: string): { path: string; problem: string } {
  const [, path, problem] = /^([a-z][\w.[\]]*): (.+)$/s.exec(message) ?? [];
  return path === undefined || problem === undefined
    ? { path: '', problem: message }
    : { path, problem };
}

/** A path as people write it: the field, and which entry of a list it is of. */
export function fieldWords(path: string): string {
  const parts = path.split('.');
  const last = wordsOf(parts.at(-1)!);
  const listed = parts.findLast((part) => part.endsWith(']'));
  if (listed === undefined) return startOf(last);
  const place = Number(/\[(\d+)\]$/.exec(listed)?.[1] ?? 0) + 1;
  const list = `${startOf(wordsOf(listed))} ${place}`;
  return listed === parts.at(-1) ? list : `${list}, ${last}`;
}

const startOf = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const wordsOf = (name: string): string =>
  name
    .replaceAll(/\[\d*\]/g, '')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('_', ' ');
