/**
 * The table of requests with 900 short values that look like attacks, below 64 KB: every kind of
 * value in every place where a request may have them, at levels 1 to 3 and under Light.
 */

import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { buildOptions } from '../micro/policy.ts';
import { formatNumber, markdownTable } from '../report/table.ts';
import type { RenderedExchange } from './candidate.ts';
import { measureOnce } from './measure.ts';
import { buildSearched, searchedRulesets } from './policies.ts';

const valuesOfRequest = 900;
const levels = ['crs4-pl1', 'crs4-pl2', 'crs4-pl3', 'light'];
/** Runs of a request that count; the quickest is its cost, the one in the middle is shown, too. */
const runs = 7;
const goalMs = 20;

/** Values of up to 60 bytes; `at` makes each another one. */
const kinds: Readonly<Record<string, (at: string) => string>> = {
  SQL: (at) => `${at}' or 1=1 union select ${at} from users--`,
  XSS: (at) => `"><script>alert(${at})</script>`,
  shell: (at) => `;cat /etc/passwd|nc ${at} 80`,
  words: (at) => `the quick brown fox ${at}`,
};

type Place = (items: readonly (readonly [name: string, value: string])[]) => RenderedExchange;

const escaped = (text: string): string =>
  text.replaceAll(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`);

const places: Readonly<Record<string, Place>> = {
  form: (items) => {
    const body = items.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    // As short as browsers write it.
    return posted('application/x-www-form-urlencoded', body.replaceAll('%20', '+'));
  },
  JSON: (items) => posted('application/json', JSON.stringify(Object.fromEntries(items))),
  cookies: (items) => {
    const cookie = items.map(([name, value]) => `${name}=${value.replaceAll(';', '%3B')}`);
    return exchange([`Cookie: ${cookie.join('; ')}`], '');
  },
  XML: (items) => {
    const elements = items.map(([name, value]) => `<${name}>${escaped(value)}</${name}>`);
    return posted('application/xml', `<r>${elements.join('')}</r>`);
  },
};

function posted(type: string, body: string): RenderedExchange {
  return exchange([`Content-Type: ${type}`, `Content-Length: ${body.length}`], body);
}

function exchange(fields: readonly string[], body: string): RenderedExchange {
  const usual = ['Host: www.example.com', 'User-Agent: Mozilla/5.0', 'Accept: */*'];
  const line = body === '' ? 'GET / HTTP/1.1' : 'POST / HTTP/1.1';
  const head = [line, ...usual, ...fields, '', ''].join('\r\n');
  return { wire: Buffer.from(head + body, 'latin1'), response: null };
}

/** The table, measured on this thread. Cost: a minute once databases are cached. */
export function tableOfShortValues(cacheFolder: string, crs4: string): string {
  const rows: string[][] = [];
  for (const ruleset of searchedRulesets(crs4).filter(({ name }) => levels.includes(name))) {
    const engine = buildSearched(ruleset, buildOptions(cacheFolder));
    warmUp(engine);
    for (const [place, render] of Object.entries(places)) {
      for (const [kind, make] of Object.entries(kinds)) {
        rows.push([ruleset.name, place, kind, ...measured(engine, render, make)]);
      }
    }
    engine.retire();
  }
  const heads = ['policy', 'place', 'values', 'CPU ms', 'median', 'KB', 'matches', 'outcome'];
  const note = `${valuesOfRequest} values a request, of ${runs} runs; goal ${goalMs} ms.`;
  return `# Short values\n\n${note}\n\n${markdownTable(heads, rows)}\n`;
}

/** A policy's patterns are compiled when they are first searched, and V8 optimizes what is hot. */
function warmUp(engine: PolicyEngine): void {
  for (const render of Object.values(places)) {
    for (const make of Object.values(kinds)) measured(engine, render, (at) => make(`9${at}`));
  }
}

/** Every run has values that the engine has never seen: it remembers what it scanned. */
function measured(engine: PolicyEngine, render: Place, make: (at: string) => string): string[] {
  const costs = Array.from({ length: runs }, (_, run) => {
    const items = Array.from({ length: valuesOfRequest }, (__, at) => {
      return [`a${at.toString(36)}`, make(String(1_000 + at + 1_000 * run))] as const;
    });
    const cost = measureOnce(engine, render(items));
    if (cost === null) throw new Error('the front refuses the request');
    return cost;
  }).toSorted((one, other) => one.cpuMs - other.cpuMs);
  const [{ cpuMs, bytes, matches, endedIn, failure }] = costs as [(typeof costs)[number]];
  const middle = costs[Math.floor(runs / 2)]!.cpuMs;
  const outcome = failure === '' ? (endedIn === 0 ? 'passed' : `phase ${endedIn}`) : failure;
  const kilobytes = formatNumber(bytes / 1_024);
  return [formatNumber(cpuMs), formatNumber(middle), kilobytes, String(matches), outcome];
}
