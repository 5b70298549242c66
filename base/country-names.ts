/** The English names of countries. Never guesses: a code without a country has no name. */

let names: Intl.DisplayNames | null = null;

/**
 * The name of a country by its two capital letters; undefined when there is none. Cost: the first
 * name reads some 5 MB of language data, which most processes never need.
 */
export function countryNameOf(code: string): string | undefined {
  if (!/^[A-Z]{2}$/.test(code)) return undefined;
  names ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  return names.of(code);
}
