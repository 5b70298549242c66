/** The bounds of the store and of publications. */

/** The store of the management plane, its backups and their checks. */
export const storeLimits = {
  /** How long a transaction that is made in slices works before others get their turn. */
  sliceMs: 4,
  /** Attempts to make it in slices while others write; the next is made in one go. */
  stepAttemptsMax: 3,
  /** Decoded records kept in memory, counted as JSON; a thousand sites have 2 MB. */
  cachedBytesMax: 32 * 1024 * 1024,
  /** Listeners for changes; parts of the process listen, not its clients. */
  listenersMax: 256,
  /** Broken audit rows that one check names. */
  auditBreaksMax: 1_000,
  /** Problems that one check of a store names; the rest is counted. */
  problemsMax: 200,
  /** One piece of a value in a backup; longer values take several lines. */
  backupPieceBytes: 1024 * 1024,
  /** One line of a backup: a piece in base64 with a key. */
  backupLineBytesMax: 2 * 1024 * 1024,
  /** One value in a backup; an unpacked ruleset is the largest. */
  backupValueBytesMax: 512 * 1024 * 1024,
  /** Files of the data folder in a backup, their number, size and depth; keys and certificates. */
  backupFilesMax: 10_000,
  backupFileBytesMax: 64 * 1024 * 1024,
  backupDepthMax: 8,
  /** Bytes that a restore writes in one transaction. */
  restoreBatchBytes: 8 * 1024 * 1024,
  /** A write that failed with less than this left on the disk failed because the disk is full. */
  diskFreeBytesMin: 1024 * 1024,
  /** How long an opening beside the process that writes waits for a commit, and looks again. */
  openingLockWaitMs: 20_000,
  openingLockEveryMs: 1,
  /** Addresses set aside for a store: without, each doubling keeps the old map and its pages. */
  storeMapBytes: 16 * 1024 * 1024 * 1024,
  /** Interval at which pages of stores that were read are released. */
  memoryCareEveryMs: 15_000,
  /** Idle is a smaller share of time at work; work that makes a collection worthwhile. */
  idleShare: 0.1,
  idleWorthMs: 2_000,
  /** One key of the store; LMDB takes 1978 bytes. */
  storeKeyBytesMax: 1_900,
} as const;

/** A store that several controllers share. */
export const sharedStoreLimits = {
  /** Address with user, password and parameters. */
  addressCharactersMax: 4_096,
  /** Waits of a connection: to be made, for an answer, and as the server bounds them. */
  connectMs: 3_000,
  queryMs: 6_000,
  statementMs: 5_000,
  lockMs: 5_000,
  /** A controller that holds the head and is silent loses it: others wait for it. */
  idleInTransactionMs: 3_000,
  /** How long a write is tried again while PostgreSQL cannot be reached. */
  writeWaitMs: 10_000,
  /** Pause before a write is tried again, and before a lost connection is made anew. */
  retryMs: 200,
  reconnectMs: 500,
  /** How often the head is looked at, should a notice be lost. */
  pollMs: 1_000,
  /** How long duties stay with a controller that is not heard of; with a poll, below 10 s. */
  leaseMs: 6_000,
  /** How long a start waits for the start of another controller. */
  startWaitMs: 120_000,
  /** Entries kept for controllers that lag; those that lag more take the whole state. */
  entriesKept: 10_000,
  /** Entries, and rows of the state, that one question reads. */
  entriesPerReadMax: 256,
  rowsPerReadMax: 256,
  /** Bytes of one entry; PostgreSQL takes a gigabyte as text, which doubles it. */
  entryBytesMax: 128 * 1024 * 1024,
} as const;

/** Making and keeping configurations. */
export const publishLimits = {
  /** Changes within this time become one publication. */
  gatherMs: 15,
  /** How long building pieces takes before others get their turn. */
  sliceMs: 4,
  /** Attempts to build in slices while others write; the next builds in one go. */
  buildAttemptsMax: 3,
  /** Longest such wait, where publishing itself takes long. */
  gatherMaxMs: 250,
  /** Rows of publications. */
  publicationsKept: 1_000,
  /** Signed indexes of publications; one of a thousand sites has some 30 KB. */
  indexesKept: 50,
  /** Bundles whose pieces nodes may fetch: a node that lags still finds the one it was sent. */
  bundlesOffered: 16,
  /** Rows past their bound that go with one publication, where the bound was larger once. */
  publicationsForgottenMax: 50,
  /** What a publication says of policies that are held back. */
  heldNoteCharactersMax: 4_000,
  /** A key of challenges seals for a month, and opens until the last clearance is over: a day. */
  challengeKeySealsMs: 30 * 86_400_000,
  challengeKeyOpensMs: 2 * 86_400_000,
  /** How often their age is looked at. */
  challengeKeyLookMs: 3_600_000,
  /** Pieces that a node asks for in one call. */
  partsPerCallMax: 10_000,
} as const;
