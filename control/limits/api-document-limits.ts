/** The bounds of API documents, of what is made of them, and of operation controls. */

/** API documents and operation controls. */
export const apiDocumentLimits = {
  /** One document as it is uploaded, bytes; the contract allows 8 MiB in a request. */
  sourceBytesMax: 8 * 1024 * 1024,
  /** Documents that a site keeps; the oldest that nothing refers to go. */
  sourcesPerSiteMax: 64,
  /** Bytes of the documents that a site keeps. */
  sourceRetentionBytes: 256 * 1024 * 1024,
  /** Declarations, profiles and bindings that a site keeps, each. */
  draftsPerSiteMax: 200,
  /** Reports that a site keeps: one of each document, declaration and profile. */
  reportsPerSiteMax: 64 + 2 * 200,
  /** Intents that a site keeps: four pages of history. */
  intentsPerSiteMax: 200,
  /** Operations of a site with body controls; every intent holds all of them. */
  bodyControlsPerSiteMax: 256,
  /** Intents on one page of the history. */
  historyPage: 50,
  /** Objects on one page of a list. */
  listPage: 50,
  /** Entries on one page of a report. */
  reportPage: 100,
  /** Mappings of servers in one request. */
  mappingsMax: 64,
  /** Operations of one document, times the mappings that take them. */
  operationsMax: 10_000,
  /** Diagnostics of one report; the rest is counted. */
  diagnosticsMax: 10_000,
  /** Segments of one path. */
  pathSegmentsMax: 64,
  /** Parameters of one operation. */
  parametersMax: 256,
  /** References that one follows another before it is an error. */
  referenceHopsMax: 64,
  /** Schemas that one check may consist of, references followed once each. */
  schemasPerCheckMax: 5_000,
  /** Nesting of schemas without a reference. */
  schemaDepthMax: 64,
  /** Characters of one pattern, and the memory that RE2 may take for it. */
  patternCharactersMax: 2_000,
  patternBytesMax: 1024 * 1024,
  /** Entries of one enumeration. */
  enumMax: 2_000,
  /** Characters of the code of all checks of a document. */
  codeCharactersMax: 32 * 1024 * 1024,
  /** Reading or compiling one document: time, memory of its thread, and how many wait. */
  threadTimeoutMs: 60_000,
  threadMemoryMb: 1_536,
  waitingMax: 8,
  /** Endpoints that learn, of one site and of all. */
  learningPerSiteMax: 64,
  learningMax: 1_000,
  /** Fields that are kept of one endpoint, of all nodes; what finds no place is counted. */
  learnedFieldsMax: 1_000,
  /** Drafts that are kept of one endpoint; the oldest goes. */
  learnedDraftsMax: 7,
  /** Objects after which a field that all of them had is called required. */
  requiredFrom: 20,
  /** Catalog entries of one site. */
  assetsPerSiteMax: 20_000,
} as const;
