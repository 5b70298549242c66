/** Which field of a form the API refused: its messages begin with the path of a field. */

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
  const [, path, problem] = /^([\w.[\]]+): (.+)$/s.exec(message) ?? [];
  if (path === undefined || problem === undefined) return null;
  const parts = path.split(/[.[\]]+/).filter((part) => part !== '' && !/^\d+$/.test(part));
  // The innermost part says most.
  for (const part of parts.toReversed()) {
    const found = fields.find(({ name, api = [] }) => name === part || api.includes(part));
    if (found !== undefined) return { name: found.name, problem };
  }
  return null;
}
