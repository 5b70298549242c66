/**
 * The services of others that tell people from programs: where each has its script and its check,
 * which origins its page needs, and what its answers say. Pure.
 */

import type { VerifierConfig, VerifierKind } from '../../contract/bot.ts';

/** What a check says of a visitor; `failed`: nothing, as the service or its set-up failed. */
export interface VerifierAnswer {
  readonly outcome: 'passed' | 'refused' | 'failed';
  /** In our words; '' where the visitor passed. */
  readonly why: string;
}

/** The service as its page shows it. */
interface Widget {
  /** Class of the element that its script fills; '' where it shows nothing. */
  readonly className: string;
  /** Parameter of the script that names the language; '' for none. */
  readonly languageParameter: string;
  /** Sources of scripts, frames, styles and connections. */
  readonly origins: readonly string[];
}

const google = ['https://www.google.com/recaptcha/', 'https://www.gstatic.com/recaptcha/'];
const recaptcha: Widget = {
  className: 'g-recaptcha',
  languageParameter: 'hl',
  origins: [...google, 'https://recaptcha.google.com/recaptcha/'],
};

const widgets: Readonly<Record<VerifierKind, Widget>> = {
  turnstile: {
    className: 'cf-turnstile',
    languageParameter: '',
    origins: ['https://challenges.cloudflare.com'],
  },
  hcaptcha: {
    className: 'h-captcha',
    languageParameter: 'hl',
    origins: ['https://hcaptcha.com', 'https://*.hcaptcha.com'],
  },
  recaptcha,
  recaptcha_score: { ...recaptcha, className: '' },
};

/** What the page of a verifier needs. */
export function widgetOf({ kind }: VerifierConfig): Widget {
  return widgets[kind];
}

/** The address of the script, in a language where it takes one. Errors: TypeError for no URL. */
export function scriptUrlOf({ kind, scriptUrl, siteKey }: VerifierConfig, lang: string): string {
  const url = new URL(scriptUrl);
  const { languageParameter } = widgets[kind];
  if (languageParameter !== '') url.searchParams.set(languageParameter, lang);
  if (kind === 'recaptcha_score') url.searchParams.set('render', siteKey);
  return url.href;
}

/** Sources of the page's policy: those of the service, and where its script lies. */
export function originsOf({ kind, scriptUrl }: VerifierConfig): readonly string[] {
  const { origins } = widgets[kind];
  const { origin } = new URL(scriptUrl);
  const isOwn = origins.some((one) => covers(one, origin));
  return isOwn ? origins : [...origins, origin];
}

/** Names the page to recaptcha_score, so that answers to other pages do not count. */
export const verifierAction = 'challenge';

/** Errors of services that are the operator's or their own, not the visitor's. */
const ownErrors = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'sitekey-secret-mismatch',
  'invalid-keys',
  'bad-request',
  'internal-error',
]);

/** Reads the answer to a check. `hosts`: of the site, where the visitor must have been asked. */
export function readVerdict(
  config: VerifierConfig,
  text: string,
  hosts: readonly string[],
): VerifierAnswer {
  const said = readObject(text);
  if (said === null || typeof said['success'] !== 'boolean') {
    return { outcome: 'failed', why: 'its answer cannot be read' };
  }
  if (!said['success']) return readErrors(said['error-codes']);
  const { hostname, score, action } = said;
  if (typeof hostname !== 'string' || !isHostOf(hostname.toLowerCase(), hosts)) {
    return { outcome: 'refused', why: 'it was answered on another host' };
  }
  if (config.kind === 'recaptcha_score') {
    if (action !== verifierAction) return { outcome: 'refused', why: 'it was another action' };
    if (typeof score !== 'number' || !(score >= config.minScore)) {
      return { outcome: 'refused', why: 'the score is too low' };
    }
  }
  return { outcome: 'passed', why: '' };
}

const errorsMax = 8;

function readErrors(value: unknown): VerifierAnswer {
  const codes = (Array.isArray(value) ? value : [])
    .slice(0, errorsMax)
    .filter((one): one is string => typeof one === 'string' && /^[a-z-]{1,64}$/.test(one));
  const said = codes.length === 0 ? '' : `: ${codes.join(', ')}`;
  const own = codes.find((code) => ownErrors.has(code));
  if (own !== undefined) return { outcome: 'failed', why: `it answered ${own}` };
  return { outcome: 'refused', why: `it refused the visitor${said}` };
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Hosts as sites have them: names, `*.` for one more label, `*` for any. */
function isHostOf(name: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => {
    if (host === '*' || host === name) return true;
    const dot = name.indexOf('.');
    return host.startsWith('*.') && dot > 0 && name.slice(dot) === host.slice(1);
  });
}

/** Whether a source of a policy covers an origin. */
function covers(source: string, origin: string): boolean {
  const wildcard = 'https://*.';
  if (source.startsWith(wildcard)) {
    return origin.startsWith('https://') && origin.endsWith(source.slice(wildcard.length - 1));
  }
  return new URL(source).origin === origin;
}
