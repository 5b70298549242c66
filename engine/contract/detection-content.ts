/**
 * Values of a site in which some signs of attacks are ordinary content: a person accepted that, the
 * site learned it, or an application sends it. Plain data.
 */

/** Version of what these objects mean; an engine refuses others. */
export const detectionContentFormat = 1;

/** What signs look for, by the thousands of the rules of CRS for it. */
export const signFamilies = [
  'sql',
  'shell',
  'path',
  'address',
  'html',
  'php',
  'code',
  'java',
  'protocol',
] as const;

/** One of them. */
export type SignFamily = (typeof signFamilies)[number];

/** Where a value is: method, path and name. */
export interface ContentPlace {
  /** Upper case; '*' for any. */
  readonly method: string;
  /** Path; a segment `*` is any one, `**` at the end any number of them. */
  readonly path: string;
  /** As rules name it, `*` for each number in a path of JSON: `ARGS:json.blocks.*.text`. */
  readonly name: string;
}

/** A family of signs that is content in one value. */
export interface ContentRule extends ContentPlace {
  readonly family: SignFamily;
  /** Milliseconds since the Unix epoch; 0 for no end. */
  readonly endsAtMs: number;
}

/** What was learned of one site, as nodes get it. */
export interface DetectionContent {
  readonly format: typeof detectionContentFormat;
  readonly siteId: string;
  /** Rises when what was learned is forgotten: what comes late of an earlier one is left out. */
  readonly generation: number;
  readonly rules: readonly ContentRule[];
}

/** Families that are content in one value of one request. */
export interface RequestContent {
  readonly name: string;
  readonly family: SignFamily;
  /** Signs that prove an attack are content, too: an application's own fields. */
  readonly strong: boolean;
}

/** Signs of one family in one value of a request; none of them proves an attack. */
export interface ValueSigns {
  readonly name: string;
  readonly family: SignFamily;
}

/** What a site does with what it learns. */
export const learningModes = ['suggest', 'off', 'auto'] as const;

/** Family of counts of clients, on its way to control. */
export const detectionClientsFamily = 'detection_clients';

/** Clients that showed signs in one value since the last delta. */
export interface ClientsDelta {
  readonly siteId: string;
  readonly generation: number;
  readonly place: ContentPlace;
  readonly family: SignFamily;
  /** Hours since the Unix epoch. */
  readonly hour: number;
  /** Bits of the sketch that were set since. */
  readonly bits: readonly number[];
  readonly requests: number;
  /** One of the requests. */
  readonly sample: string;
}
