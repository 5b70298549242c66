/** The choice between the light and the dark theme. */

import { signal } from '@preact/signals';

/** The system's choice, or the reader's. */
export const themes = ['system', 'light', 'dark'] as const;

/** One of the themes. */
export type Theme = (typeof themes)[number];

const storeName = 'waf-theme';

/** The theme that is chosen. */
export const theme = signal<Theme>(
  themes.find((one) => one === window.localStorage.getItem(storeName)) ?? 'system',
);

function show(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}

/** Shows another theme from now on. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  window.localStorage.setItem(storeName, chosen);
  show(chosen);
}

show(theme.value);
