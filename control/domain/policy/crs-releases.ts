/** Where releases of the CRS project come from, and what a list of them says. Pure. */

import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField } from '../errors.ts';

/** Key of the setting that names the service which lists releases. */
export const releaseSourceKey = 'crs.release_source';
/** Where releases are listed unless a mirror is named. */
export const standardReleaseSource = 'https://api.github.com';
/** The Core Rule Set itself. */
export const crsRepository = 'coreruleset/coreruleset';

/** Key of the setting that names a mirror of releases. */
export const mirrorKey = 'crs.mirror';
/** Key of the setting that names who may sign releases. */
export const signingKeysKey = 'crs.signing_keys';
/** Fingerprint of the key that the CRS project signs its releases with. */
export const crsSigningKey = '36006F0E0BA167832158821138EEACA1AB8A6E72';

/** A release as its list names it. */
export interface Release {
  readonly tag: string;
  readonly name: string;
  /** RFC 3339; '' when it is not published. */
  readonly publishedAt: string;
  readonly tarballUrl: string;
  readonly prerelease: boolean;
  readonly draft: boolean;
  readonly body: string;
}

const textCharactersMax = 20_000;

/** Checks the setting. Errors: invalid_argument at `at`. */
export function checkReleaseSource(value: unknown, at: string): void {
  if (typeof value === 'string' && isHttpUrl(value) && !/[?#]/.test(value)) return;
  throw invalidField(at, 'must be an http(s) URL without a query');
}

/** Checks the mirror's address. Errors: invalid_argument at `at`. */
export function checkMirror(value: unknown, at: string): void {
  if (value !== '') checkReleaseSource(value, at);
}

/** Checks fingerprints of keys, 40 hex digits each. Errors: invalid_argument at `at`. */
export function checkSigningKeys(value: unknown, at: string): void {
  const { releaseSignersMax } = resourceLimits;
  if (!Array.isArray(value) || value.length > releaseSignersMax) {
    throw invalidField(at, `must be a list of at most ${releaseSignersMax} fingerprints`);
  }
  value.forEach((one: unknown, index) => {
    if (typeof one === 'string' && /^[0-9A-F]{40}$/.test(one)) return;
    throw invalidField(`${at}[${index}]`, 'must be a fingerprint: 40 hex digits in upper case');
  });
}

/** The mirror in the settings' values, without a slash at the end; '' for none. */
export function mirrorOf(values: Readonly<Record<string, unknown>>): string {
  const own = values[mirrorKey];
  return typeof own === 'string' ? own.replace(/\/+$/, '') : '';
}

/** Fingerprints of keys whose releases are taken. */
export function signingKeysOf(values: Readonly<Record<string, unknown>>): readonly string[] {
  const own = values[signingKeysKey];
  return Array.isArray(own) ? own.map(String) : [crsSigningKey];
}

/** The version that a tag of a CRS release names: `v4.28.0` is 4.28.0. */
export function versionOfTag(tag: string): string {
  return tag.replace(/^v(?=\d)/, '');
}

/** Whether a text is a URL that can be fetched, without credentials. */
export function isHttpUrl(text: string): boolean {
  if (text.length > 2048 || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

/** The source in the settings' values, without a slash at the end. */
export function releaseSourceOf(values: Readonly<Record<string, unknown>>): string {
  const own = values[releaseSourceKey];
  return (typeof own === 'string' ? own : standardReleaseSource).replace(/\/+$/, '');
}

/** A release tag as it goes into a URL. Errors: invalid_argument at `field`. */
export function checkTag(tag: string, field: string): string {
  if (/^[A-Za-z0-9][\w.+-]{0,127}$/.test(tag)) return tag;
  throw invalidField(field, 'must be a release tag such as v4.28.0');
}

/** The releases of a list; what has no tag is left out. Null when the text is no such list. */
export function readReleases(text: string): Release[] | null {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(list)) return null;
  return list.flatMap((one: unknown) => {
    const from = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>;
    const read = (field: string): string => {
      const value = from[field];
      return typeof value === 'string' ? value.slice(0, textCharactersMax) : '';
    };
    const published = read('published_at');
    const release = {
      tag: read('tag_name'),
      name: read('name'),
      publishedAt: Number.isNaN(Date.parse(published)) ? '' : published,
      tarballUrl: read('tarball_url'),
      prerelease: from['prerelease'] === true,
      draft: from['draft'] === true,
      body: read('body'),
    };
    return release.tag === '' ? [] : [release];
  });
}
