/** Bounds of what is learned of the structure of request bodies. */

/** Learning in one front thread; what finds no place is counted. */
export const learningLimits = {
  /** A longer body teaches nothing, bytes: it is parsed on the thread that serves. */
  bodyBytesMax: 64 * 1024,
  /** Bodies that a thread looks at between two reports, of all endpoints and of one. */
  bodiesPerInterval: 200,
  bodiesPerEndpoint: 50,
  /** Bytes of these bodies together. */
  bytesPerInterval: 2 * 1024 * 1024,
  /** Nesting of fields; deeper ones are left out. */
  depthMax: 12,
  /** Values of one body that are looked at. */
  valuesMax: 2_000,
  /** Items of one list that are looked at. */
  itemsMax: 16,
  /** Members of one object: with more, their names are data. */
  membersMax: 64,
  /** A longer name is data, characters. */
  nameCharsMax: 48,
  /** Names from the root to a field, characters; some 300 bytes an entry. */
  pathCharsMax: 256,
  /** Fields of one endpoint, and of all endpoints of a thread. */
  fieldsPerEndpoint: 512,
  fieldsPerThread: 16_384,
  /** Bodies that must have a field before it is reported: a name that came by chance is not. */
  reportedFrom: 3,
} as const;

/** Sketches of clients that show signs in a value; some 600 bytes each. */
export const learningSketchLimits = {
  /**
   * Values and families of one hour that a thread counts; with more, those of one client alone
   * make room, and others are left out until the hour is over.
   */
  valuesPerThread: 512,
  /** Values that one network may be the first to show in an hour: 100 networks fill no thread. */
  newValuesPerNetwork: 4,
  /** Bits of a sketch: it counts a few hundred clients with 5 % too few, never too many. */
  sketchBits: 2_048,
  /** Bits that one report has of a value; the others wait for the next. */
  bitsPerDelta: 64,
  /** Addresses of such a network are one client. */
  ipv4Bits: 24,
  ipv6Bits: 48,
} as const;
