/** The profiles that come with the program; read once a thread, when a site asks for one. */

import { readFileSync } from 'node:fs';
import { readProfiles, type ApplicationProfile, type ProfilesFile } from './application.ts';

let known: ReadonlyMap<string, ApplicationProfile> | null = null;

/** By name. */
export function applicationProfiles(): ReadonlyMap<string, ApplicationProfile> {
  if (known !== null) return known;
  const place = new URL('./applications.profiles.json', import.meta.url);
  known = readProfiles(JSON.parse(readFileSync(place, 'utf8')) as ProfilesFile);
  return known;
}

/** Their names. */
export function applicationNames(): string[] {
  return [...applicationProfiles().keys()];
}
