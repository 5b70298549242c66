/**
 * Sentences that the API says, in the language that is shown: rules, reasons and refusals speak
 * English there. Their Chinese is loaded where Chinese is shown.
 */

import { effect, signal } from '@preact/signals';
import { translate, type Catalog } from './catalog.ts';
import { language } from './text.ts';

const chinese = signal<Catalog | null>(null);
const againMs = 10_000;

/** Sentences stay English until it is there. */
function load(): void {
  import('./chinese.ts').then(
    (loaded) => {
      chinese.value = loaded.chinese;
    },
    () => window.setTimeout(load, againMs),
  );
}

effect(() => {
  if (language.value !== 'en' && chinese.peek() === null) load();
});

/** The sentence in the language that is shown; as it is where no translation is known. */
export function said(sentence: string): string {
  if (language.value === 'en' || chinese.value === null) return sentence;
  return translate(chinese.value, sentence) ?? sentence;
}
