/**
 * Finds the translation of a sentence: by its words, or by a template whose `{name}` stands for a
 * value, which is kept as it is; what a value with a name that begins with `said` says is
 * translated, too. Pure.
 */

/** Translations that are looked up by a sentence. */
export interface Catalog {
  readonly exact: ReadonlyMap<string, string>;
  /** The one with most words of its own first: `{name} web shell` fits much. */
  readonly templates: readonly Template[];
}

interface Template {
  /** Texts and names of values in turn; a text, which may be empty, is first and last. */
  readonly parts: readonly string[];
  readonly translation: string;
}

/** Longer ones are texts of others. */
const charactersMax = 2_048;

/** The catalog of these tables, which hold translations by sentence. */
export function catalogOf(...tables: readonly Readonly<Record<string, string>>[]): Catalog {
  const rows = tables.flatMap((table) => Object.entries(table));
  const exact = new Map<string, string>();
  const templates: Template[] = [];
  for (const [sentence, translation] of rows) {
    const parts = sentence.split(/\{(\w+)\}/);
    if (parts.length === 1) exact.set(plain(sentence), translation);
    else templates.push({ parts, translation });
  }
  return { exact, templates: templates.sort((one, other) => wordsOf(other) - wordsOf(one)) };
}

const wordsOf = ({ parts }: Template): number =>
  parts.reduce((sum, part, at) => sum + (at % 2 === 0 ? part.length : 0), 0);

/** Rules lose these signs of a message on its way through their language. */
const plain = (text: string): string => text.replaceAll(/['"\\]/g, '');

/** The translation; null where the catalog has none. */
export function translate(catalog: Catalog, sentence: string): string | null {
  if (sentence.length > charactersMax) return null;
  const found = catalog.exact.get(plain(sentence));
  if (found !== undefined) return found;
  return translateList(catalog, sentence) ?? translateByTemplate(catalog, sentence);
}

/** Between the sentences of a list, which the API joins to one; a sentence may hold it, too. */
const listSeparator = '; ';
const partsMax = 32;
const partsOfSentenceMax = 3;

/** A list whose sentences are all known: the field of the first is not that of the others. */
function translateList(catalog: Catalog, sentence: string): string | null {
  const parts = sentence.split(listSeparator);
  if (parts.length === 1 || parts.length > partsMax) return null;
  const known: string[] = [];
  for (let from = 0; from < parts.length;) {
    const found = firstSentence(catalog, parts, from);
    if (found === null) return null;
    known.push(found.value);
    from = found.end;
  }
  return known.join('；');
}

/** The shortest sentence that begins with this part, and the part after it. */
function firstSentence(catalog: Catalog, parts: readonly string[], from: number): Value | null {
  const last = Math.min(from + partsOfSentenceMax, parts.length);
  for (let end = from + 1; end <= last; end += 1) {
    const text = parts.slice(from, end).join(listSeparator);
    const value = catalog.exact.get(plain(text)) ?? translateByTemplate(catalog, text);
    if (value !== null) return { value, end };
  }
  return null;
}

function translateByTemplate(catalog: Catalog, sentence: string): string | null {
  for (const { parts, translation } of catalog.templates) {
    const values = valuesOf(catalog, parts, sentence);
    if (values === null) continue;
    return translation.replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? '');
  }
  return null;
}

/** The values that make the template the sentence; null where none do. */
function valuesOf(
  catalog: Catalog,
  parts: readonly string[],
  sentence: string,
): ReadonlyMap<string, string> | null {
  const first = parts[0]!;
  if (!sentence.startsWith(first)) return null;
  const values = new Map<string, string>();
  let from = first.length;
  for (let at = 1; at < parts.length; at += 2) {
    const name = parts[at]!;
    const next = parts[at + 1]!;
    const last = at + 2 === parts.length;
    const found = name.startsWith('said')
      ? saidUntil(catalog, sentence, from, next, last)
      : textUntil(sentence, from, next, last);
    if (found === null) return null;
    values.set(name, found.value);
    from = found.end + next.length;
  }
  return values;
}

interface Value {
  readonly value: string;
  /** Where it ends in the sentence. */
  readonly end: number;
}

/** The value up to the next text; the last one goes as far as it can. */
function textUntil(sentence: string, from: number, next: string, last: boolean): Value | null {
  const end = last ? sentence.length - next.length : sentence.indexOf(next, from);
  if (end < from || !sentence.startsWith(next, end)) return null;
  return { value: sentence.slice(from, end), end };
}

/** The same of a value that is a sentence of its own: it may hold the next text, too. */
function saidUntil(
  catalog: Catalog,
  sentence: string,
  from: number,
  next: string,
  last: boolean,
): Value | null {
  for (let after = from; ;) {
    const found = textUntil(sentence, after, next, last);
    if (found === null) return null;
    const text = sentence.slice(from, found.end);
    // What follows nothing may be a template of its own: a field, then what is wrong with it.
    const value = last ? translate(catalog, text) : catalog.exact.get(plain(text));
    if (value !== undefined && value !== null) return { value, end: found.end };
    if (last) return null;
    after = found.end + 1;
  }
}
