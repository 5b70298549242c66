/**
 * What a run of GoTestWAF's payloads comes to: detection and false-positive rates per category, as
 * a table and as plain data. Pure; sends nothing.
 */

/** One payload of the corpus with its renderings. */
export interface Payload {
  readonly title: string;
  readonly set: string;
  readonly case: string;
  readonly malicious: boolean;
  readonly requests: readonly {
    readonly placeholder: string;
    readonly encoder: string;
    /** Absent where the rendering needs a protocol that is not served here. */
    readonly wire_b64?: string;
  }[];
}

/**
 * How one request ended: with 403, refused otherwise (limits, unreadable bodies), at the origin.
 */
export type Ending = 'blocked' | 'refused' | 'passed';

/** One request that was sent. */
export interface Sent {
  readonly title: string;
  readonly set: string;
  readonly case: string;
  readonly malicious: boolean;
  readonly form: string;
  readonly status: number;
  readonly ending: Ending;
}

/** Counts of one category. */
export interface Rate {
  readonly category: string;
  readonly requests: number;
  readonly blocked: number;
  readonly refused: number;
  readonly passed: number;
}

/** A whole run. */
export interface Rates {
  /** Attacks per set and case. */
  readonly attacks: readonly Rate[];
  /** Harmless requests per set and case. */
  readonly benign: readonly Rate[];
  /** Attacks per place and encoder of the payload. */
  readonly forms: readonly Rate[];
  readonly allAttacks: Rate;
  readonly allBenign: Rate;
}

/** How a request ended by what the client saw; 403 is what a rule answers under these policies. */
export function endingOf(status: number): Ending {
  if (status === 403) return 'blocked';
  return status === 200 ? 'passed' : 'refused';
}

/** Counts a run. */
export function countRates(sent: readonly Sent[]): Rates {
  const attacks = sent.filter(({ malicious }) => malicious);
  const benign = sent.filter(({ malicious }) => !malicious);
  const category = (one: Sent): string => `${one.set}/${one.case}`;
  return {
    attacks: countBy(attacks, category),
    benign: countBy(benign, category),
    forms: countBy(attacks, ({ form }) => form),
    allAttacks: count('all attacks', attacks),
    allBenign: count('all benign', benign),
  };
}

function countBy(sent: readonly Sent[], name: (one: Sent) => string): Rate[] {
  const names = [...new Set(sent.map(name))].sort();
  return names.map((each) =>
    count(
      each,
      sent.filter((one) => name(one) === each),
    ),
  );
}

function count(category: string, sent: readonly Sent[]): Rate {
  const ended = (ending: Ending): number => sent.filter((one) => one.ending === ending).length;
  return {
    category,
    requests: sent.length,
    blocked: ended('blocked'),
    refused: ended('refused'),
    passed: ended('passed'),
  };
}

/** Share of requests that never reached the origin, percent. */
export function stoppedPercent({ requests, blocked, refused }: Rate): number {
  return requests === 0 ? 0 : (100 * (blocked + refused)) / requests;
}

/** Share of requests that reached the origin, percent. */
export function passedPercent(rate: Rate): number {
  return rate.requests === 0 ? 0 : 100 - stoppedPercent(rate);
}

/** The rates as aligned lines. */
export function rateTable({ attacks, benign, forms, allAttacks, allBenign }: Rates): string {
  const head = ['CATEGORY', 'REQUESTS', 'BLOCKED', 'REFUSED', 'PASSED', 'RATE'];
  const row = (rate: Rate, percent: number): string[] => [
    rate.category,
    ...[rate.requests, rate.blocked, rate.refused, rate.passed].map(String),
    `${percent.toFixed(1)} %`,
  ];
  const rows = [
    ['Attacks stopped', '', '', '', '', ''],
    ...[...attacks, allAttacks].map((rate) => row(rate, stoppedPercent(rate))),
    ['By place and encoder', '', '', '', '', ''],
    ...forms.map((rate) => row(rate, stoppedPercent(rate))),
    ['Benign passed', '', '', '', '', ''],
    ...[...benign, allBenign].map((rate) => row(rate, passedPercent(rate))),
  ];
  const widths = head.map((_, column) => {
    return Math.max(...[head, ...rows].map((cells) => cells[column]!.length));
  });
  return [head, ...rows]
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
