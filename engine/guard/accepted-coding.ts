/** Which of our content codings a client prefers (RFC 9110 section 12.5.3). Pure. */

/** The better first: of equal weights it is chosen. */
const codings = ['br', 'gzip'] as const;

/** The last answer of the thread: browsers of a kind all send the same. */
let known: { readonly asked: string; readonly coding: 'br' | 'gzip' | '' } = {
  asked: '',
  coding: '',
};

/** The coding for the value of Accept-Encoding; '' for none, as without the field. */
export function acceptedCoding(asked: string): 'br' | 'gzip' | '' {
  if (asked !== known.asked) known = { asked, coding: preferred(asked) };
  return known.coding;
}

function preferred(asked: string): 'br' | 'gzip' | '' {
  const weights = new Map<string, number>();
  for (const one of asked.toLowerCase().split(',')) {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim());
    if (name === '') continue;
    const key = name === 'x-gzip' ? 'gzip' : name;
    const weight = weightOf(parameters);
    // An unreadable weight is no consent; of two entries the smaller weight counts.
    weights.set(key, Math.min(weight, weights.get(key) ?? 1));
  }
  const others = weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? 0;
  let best: 'br' | 'gzip' | '' = '';
  let bestWeight = 0;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? others;
    if (weight <= bestWeight || weight < identity) continue;
    best = coding;
    bestWeight = weight;
  }
  return best;
}

/** RFC 9110 section 12.4.2: 1 without a weight, at most three decimals; 0 for anything else. */
function weightOf(parameters: readonly string[]): number {
  if (parameters.length === 0) return 1;
  const [, digits] = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameters[0]!) ?? [];
  return digits === undefined || parameters.length > 1 ? 0 : Number(digits);
}
