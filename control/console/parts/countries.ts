/** Countries by what people call them. */

const namesIn = (tag: string): Intl.DisplayNames =>
  new Intl.DisplayNames(tag, { type: 'region', fallback: 'none' });

/** The name of a country in a language, with its code; the code where it has no name. */
export function countryName(code: string, tag: string): string {
  const name = /^[A-Z]{2}$/.test(code) ? namesIn(tag).of(code) : undefined;
  return name === undefined ? code : `${name} (${code})`;
}

/** The code of a country that is named in one of the languages; the text itself where none is. */
export function countryCode(
  text: string,
  codes: readonly string[],
  tags: readonly string[],
): string {
  const typed = text.toLowerCase();
  const isNamed = (names: Intl.DisplayNames, code: string): boolean =>
    /^[A-Z]{2}$/.test(code) && names.of(code)?.toLowerCase() === typed;
  for (const tag of tags) {
    const names = namesIn(tag);
    const found = codes.find((code) => isNamed(names, code));
    if (found !== undefined) return found;
  }
  return text.toUpperCase();
}

/** The code of a country as a person enters it: by its code, or its name there or in English. */
export function enteredCountry(text: string, tag: string): string {
  return countryCode(text, possibleCodes(), [tag, 'en']);
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/**
 * Every code that may be a country's. Withdrawn codes, which have the names of others (DD is called
 * Germany), are left out.
 */
function possibleCodes(): readonly string[] {
  const pairs = letters.flatMap((first) => letters.map((second) => first + second));
  return pairs.filter((pair) => new Intl.Locale(`und-${pair}`).region === pair);
}
