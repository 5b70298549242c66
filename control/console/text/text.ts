/** Which language is shown, and how texts, numbers and times are written in it. */

import { signal } from '@preact/signals';
import { timestampDate, type Timestamp } from '@bufbuild/protobuf/wkt';
import { en, type TextName } from './en.ts';
import { zhCn } from './zh-cn.ts';

/** Languages with a table of texts. */
export const languages = { en: 'English', 'zh-CN': '简体中文' } as const;

/** The tag of a language. */
export type Language = keyof typeof languages;

const tables: Readonly<Record<Language, Readonly<Record<TextName, string>>>> = {
  en,
  'zh-CN': zhCn,
};
const storeName = 'waf-language';

/** The language that is shown. */
export const language = signal<Language>(firstLanguage());

function firstLanguage(): Language {
  const wanted = window.localStorage.getItem(storeName) ?? window.navigator.language;
  return wanted.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

/** Shows another language from now on. */
export function chooseLanguage(next: Language): void {
  language.value = next;
  window.localStorage.setItem(storeName, next);
  document.documentElement.lang = next;
}

document.documentElement.lang = language.value;

/** A text with its values set in. */
export function t(name: TextName, values: Readonly<Record<string, string | number>> = {}): string {
  return fill(tables[language.value][name], values);
}

function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, key: string) =>
    key in values ? String(values[key]) : whole,
  );
}

/** Texts of one page, by name: in English and in Chinese, so that neither can be missing. */
export type PageTexts<K extends string> = Readonly<Record<K, readonly [en: string, zhCn: string]>>;

/** What looks up a page's texts; they are loaded with the page. */
export function pageTexts<K extends string>(
  table: PageTexts<K>,
): (name: K, values?: Readonly<Record<string, string | number>>) => string {
  return (name, values = {}) => fill(inLanguage(table[name]), values);
}

/** The half of a pair that is in the language that is shown. */
export function inLanguage([english, chinese]: readonly [en: string, zhCn: string]): string {
  return language.value === 'en' ? english : chinese;
}

/** A count, short where it is large. */
export function shortNumber(value: bigint | number): string {
  const format = { notation: 'compact', maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language.value, format).format(value);
}

/** A count, exact. */
export function exactNumber(value: bigint | number): string {
  return formats().count.format(value);
}

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Bytes in the unit that keeps the number short. */
export function byteText(bytes: bigint | number): string {
  const value = Number(bytes);
  const power = value < 1 ? 0 : Math.min(4, Math.floor(Math.log10(value) / 3));
  const format = { style: 'unit', unit: byteUnits[power]!, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language.value, format).format(value / 1000 ** power);
}

/** A share of a whole in percent; a dash where there is no whole. */
export function percent(part: bigint, whole: bigint): string {
  if (whole === 0n) return '–';
  const format = { style: 'percent', maximumFractionDigits: 2 } as const;
  return new Intl.NumberFormat(language.value, format).format(Number(part) / Number(whole));
}

/** How a count changed, in percent with its sign; '' where there was none before. */
export function changeOf(now: bigint, before: bigint): string {
  if (before === 0n) return '';
  const format = { style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' } as const;
  return new Intl.NumberFormat(language.value, format).format(Number(now) / Number(before) - 1);
}

/** A time in the zone of the reader; the year is there where it is another one than now. */
export function localTime(at: Timestamp | undefined): string {
  if (at === undefined) return '–';
  const date = timestampDate(at);
  const { time, timeOfYear } = formats();
  const same = date.getFullYear() === new Date().getFullYear();
  return (same ? timeOfYear : time).format(date);
}

interface Formats {
  readonly of: Language;
  readonly time: Intl.DateTimeFormat;
  /** Without the year. */
  readonly timeOfYear: Intl.DateTimeFormat;
  readonly count: Intl.NumberFormat;
}

let kept: Formats | null = null;

/** The formats of the language: to make one costs more than to use it for all rows of a table. */
function formats(): Formats {
  const of = language.value;
  if (kept?.of !== of) {
    kept = {
      of,
      time: new Intl.DateTimeFormat(of, {
        dateStyle: 'medium',
        timeStyle: 'medium',
        hourCycle: 'h23',
      }),
      timeOfYear: new Intl.DateTimeFormat(of, {
        ...({ month: 'short', day: 'numeric' } as const),
        ...({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const),
      }),
      count: new Intl.NumberFormat(of),
    };
  }
  return kept;
}

/** The zone of the reader, in which times are shown. */
export function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The same time in UTC, for the hint beside it. */
export function utcTime(at: Timestamp | undefined): string {
  return at === undefined ? '' : timestampDate(at).toISOString();
}
