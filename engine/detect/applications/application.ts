/**
 * Profiles of applications: which fields their editors send what in. A data file; reads and checks
 * it, never looks at a request.
 */

import { signFamilies, type SignFamily } from '../../contract/detection-content.ts';

/** Fields of requests to one path, and what is content in them. */
export interface ApplicationField {
  /** Upper case; '*' for any. */
  readonly method: string;
  /** From the root of the application; `*` one segment, `**` at the end all that follow. */
  readonly path: string;
  /** As rules name values: `ARGS:content`. */
  readonly names: readonly string[];
  readonly families: readonly SignFamily[];
  /** Visitors fill it: signs that prove an attack count. */
  readonly visitors?: boolean;
}

/** One application. */
export interface ApplicationProfile {
  /** In kebab case. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  readonly fields: readonly ApplicationField[];
}

/** A data file of profiles. */
export interface ProfilesFile {
  readonly version: string;
  readonly applications: readonly ApplicationProfile[];
}

/** Reads a data file. Errors: a name that comes twice, a family or place that is none. */
export function readProfiles({
  applications,
}: ProfilesFile): ReadonlyMap<string, ApplicationProfile> {
  const byName = new Map<string, ApplicationProfile>();
  for (const profile of applications) {
    const { name, fields } = profile;
    if (byName.has(name)) throw new Error(`profile ${name} comes twice`);
    for (const { path, names, families } of fields) {
      if (!path.startsWith('/')) throw new Error(`profile ${name}: ${path} is no path`);
      const unknown = families.filter((one) => !signFamilies.includes(one));
      if (unknown.length > 0) throw new Error(`profile ${name}: unknown family ${unknown[0]}`);
      const odd = names.find(
        (one) => !/^(?:ARGS|FILES|REQUEST_COOKIES):.|^REQUEST_BODY$/.test(one),
      );
      if (odd !== undefined) throw new Error(`profile ${name}: ${odd} names no value`);
    }
    byName.set(name, profile);
  }
  return byName;
}

/** An application of a site, and the path under which it lies; '' for the root. */
export interface ChosenApplication {
  readonly name: string;
  readonly prefix: string;
}

/** Reads what a site names: `wordpress`, or `wordpress@/blog,dokuwiki@/wiki`; null for neither. */
export function readChosen(text: string): ChosenApplication[] | null {
  if (text === '') return [];
  const parts = text
    .split(',')
    .map((part) => /^([a-z][a-z0-9-]*)(?:@((?:\/[\w.~-]+)+))?$/.exec(part));
  if (parts.length > chosenMax || parts.includes(null)) return null;
  return parts.map((part) => ({ name: part![1]!, prefix: part![2] ?? '' }));
}

/** Applications of one site. */
export const chosenMax = 8;

/** The fields of chosen applications, with their prefix; those that are not known have none. */
export function fieldsOf(
  chosen: readonly ChosenApplication[],
  profiles: ReadonlyMap<string, ApplicationProfile>,
): ApplicationField[] {
  return chosen.flatMap(({ name, prefix }) =>
    (profiles.get(name)?.fields ?? []).map((field) => ({ ...field, path: prefix + field.path })),
  );
}
