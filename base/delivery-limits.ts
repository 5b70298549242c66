/** The bounds of messages and connections, towards clients and towards origins. */

/** HTTP/1.x messages, from clients and from origins. */
export const httpLimits = {
  /** Start line and fields; twice what common servers take, so that rules see it first. */
  headBytesMax: 65_536,
  /** Longer request targets get 414. */
  targetBytesMax: 16_384,
  /** Room for method, protocol and blanks beside the target in a request line. */
  requestLineExtraBytes: 256,
  /** More header fields get 431. */
  fieldsMax: 200,
  /** Empty lines before a start line; RFC 9112 section 2.2 asks for at least one. */
  leadingEmptyLinesMax: 2,
  /** Names in Connection; each costs a comparison with every field. */
  connectionTokensMax: 16,
  /** Decimal digits of a Content-Length; stays within exact integers. */
  contentLengthDigitsMax: 15,
  /** Hexadecimal digits of a chunk size, leading zeros included. */
  chunkSizeDigitsMax: 12,
  /** Extensions of one chunk; they are thrown away. */
  chunkExtensionBytesMax: 256,
  /** Size lines of one body beyond as much as its content has: work without a purpose. */
  chunkOverheadBytesMax: 65_536,
  /** One trailer section; trailers are thrown away. */
  trailerBytesMax: 8_192,
} as const;

/** One HTTP/2 connection. Source: RFC 9113 section 10.5, CVE-2023-44487, CVE-2025-8671. */
export const http2Limits = {
  /** Requests at one time; what RFC 9113 section 6.5.2 calls the least to offer. */
  streamsMax: 100,
  /** Content of one request that may be on its way before the request took it. */
  streamWindowBytes: 65_535,
  /** The same of all requests of a connection. */
  connectionWindowBytes: 1_048_576,
  /**
   * Heads of a connection's requests that are not counted as held, together: as many bytes as one
   * request over HTTP/1.1 may have. A few bytes of a client can mean 64 KB of head.
   */
  freeHeadBytes: 65_536,
  /** Heads that came together and are kept in one piece. */
  sharedHeadBytesMax: 16_384,
  /** What one answer may have waiting for its client. */
  queueBytesMax: 65_536,
  /** Acknowledgements of pings and settings that wait to be sent. */
  outboundAcksMax: 100,
  /** Frames that serve nobody (pings, settings, resets, empty data, tiny window updates). */
  uselessFramesMax: 2_000,
  uselessFramesPerSecond: 50,
  /** A request that its client gives up, or is made to end, counts as this number of them. */
  framesPerCancelledRequest: 10,
  /** What an answer that was sent whole gives back: who uses answers may cancel others. */
  framesPerAnswer: 5,
  /** Requests of one connection that begin in one turn of the event loop; others get theirs. */
  begunPerTurnMax: 16,
  /** What is read of a request after its answer before it is reset: for how long, how much. */
  remainderMs: 1_000,
  remainderBytesMax: 262_144,
  /** What one write to a socket may hold. */
  outBytes: 65_536,
} as const;

/** Clients whose HTTP/2 connections were ended for what they did, per front thread. */
export const floodLimits = {
  /** How long after the last such end. */
  rememberedMs: 30_000,
  /** An IPv4 address or an IPv6 /64 each; the oldest is forgotten first. */
  clientsMax: 10_000,
  /** New connections: at once, and each second; more are closed before they cost a handshake. */
  connectionsMax: 20,
  connectionsPerSecond: 10,
  /** In place of `uselessFramesMax` for their new connections. */
  uselessFramesMax: 200,
} as const;

/** Compression of answers. */
export const compressionLimits = {
  /** Answers that a front thread compresses at one time; others are sent as they are. */
  runningMax: 128,
  /** Shorter answers gain nothing: one packet carries them either way. */
  minBytes: 1_024,
  /** Media types without a choice of the operator's: text, and what is text in other words. */
  types: [
    'text/*',
    'application/javascript',
    'application/json',
    'application/ld+json',
    'application/manifest+json',
    'application/problem+json',
    'application/xml',
    'application/atom+xml',
    'application/rss+xml',
    'application/xhtml+xml',
    'application/wasm',
    'font/otf',
    'font/ttf',
    'image/svg+xml',
  ],
  /** Fast levels: the gain of higher ones costs several times the work. */
  gzipLevel: 5,
  brotliQuality: 4,
  /** A window of 256 KB; the standard of 4 MB would be memory for each answer. */
  brotliWindowBits: 18,
} as const;

/** Client connections, per front thread. */
export const frontLimits = {
  /** More are closed when accepted. */
  connectionsMax: 20_000,
  /** Larger request bodies get 413. */
  requestBodyBytesMax: 1_073_741_824,
  /** Readers of finished HTTP/2 requests that wait for the next one, 2 KB each. */
  spareReadersMax: 256,
  /** Input kept while a request is served; past it the socket is not read. */
  heldInputBytesMax: 65_536,
  /**
   * Unfinished heads, held bodies and held answers of all clients of a thread; past it those whose
   * they are get 503. Room for two thousand bodies of the usual inspection limit.
   */
  heldBytesMax: 268_435_456,
  /**
   * What one client (an IPv4 address or an IPv6 /64) and one site may hold of it, as multiples of
   * what is left then: a client at most half of all, a site two thirds, many together never all.
   */
  heldClientShare: 1,
  heldSiteShare: 2,
  /** What a client may hold whatever others hold: one usual body. */
  heldClientBytesMin: 131_072,
  /** An inspected answer up to this size is sent in one piece; a larger one in such pieces. */
  releasedAtOnceBytesMax: 32_768,
  releasedPieceBytes: 65_536,
  /** Held bodies are gathered in slabs of this size, or of the size announced up to the other. */
  heldSlabBytes: 16_384,
  heldAnnouncedBytesMax: 131_072,
  /** Slabs that a thread keeps for the next bodies. */
  heldFreeBytesMax: 1_048_576,
  /** Read into by all client sockets of a thread; one read takes no more. */
  readBufferBytes: 65_536,
  /** Pipelined requests begun in one turn before other connections get theirs. */
  pipelineBurstMax: 32,
  /** One slab of output memory; it serves many small writes. */
  outputSlabBytes: 262_144,
  /** First byte of a head to its last; slow heads get 408. */
  headTimeoutMs: 15_000,
  /** Idle between requests. */
  keepAliveTimeoutMs: 60_000,
  /** No byte of an expected request body; 408. */
  bodyProgressTimeoutMs: 30_000,
  /** The client takes nothing of its answer. */
  sendProgressTimeoutMs: 60_000,
  /** Head complete to answer sent; endless transfers end here. */
  requestTotalTimeoutMs: 600_000,
  /** The client closed its side: how long its answer may pause. */
  halfCloseGraceMs: 1_000,
  /** A WebSocket on which neither side sends; its programs send pings more often. */
  websocketIdleMs: 300_000,
  /** After an early answer the rest of the body is read and discarded: for how long, how much. */
  lingerTimeoutMs: 2_000,
  lingerBytesMax: 1_048_576,
  /** How often deadlines are looked at; their precision. */
  sweepIntervalMs: 250,
  /** Graceful stop: when what is left is cut. */
  drainTimeoutMs: 30_000,
  /** A client without a request when the drain begins: its next one may be on its way. */
  drainIdleMs: 1_000,
  /** Offered to clients with TLS, and spoken without TLS to those that begin with its preface. */
  http2: true,
  /** Target, host or user agent kept in an event. */
  eventTextBytesMax: 2_048,
  /** Texts of an event that are looked through for secrets, and secrets that it is cleaned of. */
  eventSecretTextsMax: 256,
  eventSecretsMax: 64,
  /** Events a thread sends in one message, their bytes, and the longest wait for them. */
  eventBatchMax: 256,
  eventBatchBytesMax: 256 * 1024,
  eventBatchDelayMs: 20,
  /** Messages on their way before the main thread has taken one: what it does between its turns. */
  eventBatchesSentMax: 4,
  /** Bytes of waiting events in a thread; past half, matches kept per event, one value each. */
  eventQueueBytesMax: 4 * 1024 * 1024,
  eventMatchesShortened: 8,
  /** Pause before a thread collects the garbage of an old generation. */
  collectDelayMs: 1_000,
  /** Interval at which front threads send their counts. */
  counterIntervalMs: 100,
  /** Interval at which they send rankings; paths and programs of a site in one, about 6 KB. */
  rankingIntervalMs: 2_000,
  rankedValuesMax: 128,
  /** Methods and protocols ranked; there are fewer, but for made-up ones. */
  rankedNamesMax: 16,
  /** Characters of a ranked path or program; longer ones are ranked by these. */
  rankedCharactersMax: 256,
  /** Before a front thread that died is replaced; doubles with each death. */
  threadRestartPauseMs: 100,
  threadRestartPauseMaxMs: 5_000,
} as const;

/** Text messages of WebSockets that are inspected. */
export const websocketLimits = {
  /** A longer message is inspected in pieces of this size, each before it goes to the origin. */
  pieceBytesMax: 1_048_576,
  /** What a piece repeats of the one before, so that nothing hides between two. */
  overlapBytes: 1_024,
  /** Heads of the frames of one piece, which wait with it; past it 1009. */
  heldHeadBytesMax: 65_536,
  /** Payload that is looked at in one step. */
  stepBytes: 16_384,
  /** What may be left of an origin's frame that a closing frame waits for; past it none is sent. */
  closeWaitBytesMax: 65_536,
} as const;

/** TLS towards clients, per front thread. */
export const tlsLimits = {
  /** A client's first message; browsers send up to 2 KB. */
  helloBytesMax: 16_384,
  /** From the first byte to the end of the handshake. */
  handshakeTimeoutMs: 10_000,
  /** Certificates whose context is kept, some 20 KB each; others are made again, 0.3 ms. */
  contextsMax: 2_000,
  /** Fingerprints of clients that are kept, some 700 bytes each, per front thread. */
  fingerprintsMax: 256,
  /** Numbers of suites, extensions and algorithms of one that is kept; browsers offer about 45. */
  fingerprintNumbersMax: 128,
  /** How long a session can be resumed. */
  sessionSeconds: 7_200,
  /** Subject of a client's certificate, which its origin gets; a longer one is not valid. */
  subjectBytesMax: 4_096,
  /** How often the keys of session tickets are replaced: what a stolen key can open. */
  ticketRotationMs: 12 * 3_600_000,
  /** Answers to authorities at one time: names of one order, times orders under way. */
  acmeTokensMax: 1_000,
} as const;

/** Writes of one turn of the event loop, per front thread. */
export const turnLimits = {
  /** More for one socket is written at once; below what it takes before it asks to wait. */
  waitingBytesMax: 8_192,
  /** Sockets that wait at most: the first waits no longer than the work on the others takes. */
  waitingPiecesMax: 32,
  /** Smaller reads are no bulk: a share of a turn is not counted for them. */
  bulkReadBytesMin: 8_192,
  /** What the inspection of a message costs beside its bytes, 0.1 ms and more, in bytes. */
  messageCost: 2_048,
  /** What a control frame, or one of many of a message, costs: some 4 us. */
  frameCost: 32,
  /** Messages of one WebSocket in one turn, and of all of a thread: 4 and 16 small ones. */
  messageShareMax: 8_192,
  messageCostMax: 32_768,
  /** Read from one socket in a turn while none stands in line, and while some do: one read. */
  aloneReadBytesMax: 262_144,
  sharedReadBytesMax: 65_536,
  /** The same of an HTTP/2 client, whose frames may be some bytes each. */
  frameReadBytesMax: 32_768,
  /** Sockets in line that are read in a turn: relaying 64 KB of one takes some 50 us. */
  readersPerTurnMax: 8,
} as const;

/** Origin connections, per front thread. */
export const upstreamLimits = {
  connectionsPerEndpointMax: 256,
  /** Connections beside them whose answers wait for slow clients. */
  pausedPerEndpointMax: 4_096,
  /** Requests waiting for a connection; more get 503. */
  waitingPerEndpointMax: 1_024,
  /** Longest wait for a connection; 503. */
  queueTimeoutMs: 5_000,
  /** Connections kept open without a request: as many as may be busy, else bursts connect anew. */
  idlePerEndpointMax: 256,
  /** Below the usual 60 s and 75 s of origins, so that we close first. */
  idleTimeoutMs: 30_000,
  /** We close this long before the timeout that an origin names in Keep-Alive, or at half of it. */
  idleMarginMs: 1_000,
  /** TCP and TLS together; 504. */
  connectTimeoutMs: 5_000,
  /** Request sent to response head; 504. */
  firstByteTimeoutMs: 60_000,
  /** No byte of an expected response body. */
  readProgressTimeoutMs: 60_000,
  /** One read; the buffer is shared by all origin sockets of a thread. */
  readBufferBytes: 65_536,
  /** Larger pieces of a streamed body are copied to one buffer of the thread to be sent. */
  pooledCopyBytesMax: 4_000,
  /** 1xx answers before the final one. */
  interimResponsesMax: 16,
  /** Bytes of their heads together. */
  interimBytesMax: 65_536,
  /** Shortest pause before a request that reached no address is tried again. */
  retryIntervalMsMin: 50,
  /** Probes of one address: redirects followed, and bytes of the answer that are looked at. */
  probeRedirectsMax: 3,
  probeBodyBytesMax: 65_536,
  /** Probes under way at one time; more wait. */
  probesAtOnceMax: 64,
  /** A probe that has to wait tries again after this. */
  probeWaitMs: 200,
  /** A new pool is probed once at each address; the longest such probe. */
  firstProbeTimeoutMs: 3_000,
  /** Reading the first page of an origin, when a site is made. */
  firstPageTimeoutMs: 1_000,
  /** Origins that fail: interval of the line in the log, and origins that it names. */
  originLogEveryMs: 60_000,
  originsLoggedMax: 20,
  /** Failing addresses that are remembered, and how long after their last failure. */
  originsWatchedMax: 10_000,
  originForgottenMs: 600_000,
  /** An endpoint that comes back gets its share of requests step by step over this time. */
  slowReturnMs: 10_000,
  /** Its first share, of its weight. */
  returnShareMin: 0.1,
  /** How long an endpoint that refused is tried last. */
  downAfterFailureMs: 3_000,
  /** Endpoints or connections tried for one request. */
  attemptsMax: 3,
} as const;

/** PROXY headers in front of a client's first byte. Source: the PROXY protocol's specification. */
export const proxyHeaderLimits = {
  /** Header with its fields; balancers that add certificates of clients send up to 4 KB. */
  bytesMax: 4_096,
  /** From accepting a client to the last byte of its header. */
  timeoutMs: 5_000,
  /** Networks whose headers one listener takes. */
  networksMax: 64,
} as const;

/** Names of origins, per front thread. */
export const originNameLimits = {
  /** Names that are remembered; the one asked first goes first. */
  namesMax: 1_000,
  /** How long an answer holds: where DNS says nothing, and whatever it says. */
  ttlSecondsDefault: 10,
  ttlSecondsMin: 1,
  ttlSecondsMax: 300,
  /** Pause after an answer that failed. */
  failureSeconds: 1,
  /** How long the last good answer serves while the server fails. */
  staleMs: 300_000,
  /** Asking DNS for the time to live; the default counts when it takes longer. */
  ttlTimeoutMs: 1_000,
} as const;

/** HTTP/2 towards origins, for each address in a front thread. */
export const http2OriginLimits = {
  sessionsMax: 8,
  /** Requests of one session, where the origin does not take fewer. */
  streamsMax: 100,
  /** Head of an answer; as much as over HTTP/1.1. */
  headBytesMax: 65_536,
  /** What node may hold of one session, in MB. */
  sessionMegabytesMax: 10,
} as const;

/** What an enrolled node keeps of itself. */
export const nodeIdentityLimits = {
  /** The identity file: certificates, a key and a token have some 5 KB. */
  fileBytesMax: 256 * 1024,
  /** How often the node looks whether its certificate is due. */
  renewalCheckMs: 3_600_000,
  /** Part of the certificate's lifetime after which it is renewed. */
  renewAfterShare: 2 / 3,
} as const;
