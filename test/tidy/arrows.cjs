/**
 * The one table of rooms and of the arrows allowed between them. The dependency-cruiser rules,
 * the tidy tests and ARCHITECTURE.md's map all come from here; a new room is one line.
 *
 * `may` lists rooms this room may import; a trailing `/*` stands for every room below.
 * Tests (`*.test.ts`) are free to import any room, but nothing imports test/ or bench/.
 */
'use strict';

const common = 'base';
const base = 'engine/base';
const contract = 'engine/contract';
const limits = 'control/limits';
const gen = 'proto/gen';
const transaction = 'engine/rules/transaction';
const features = 'engine/rules/features';

/** What every part of a front may use of the others. */
const frontParts = ['engine/front', 'engine/front/wire', 'engine/front/facts', 'engine/detect'];

/** Longest path wins, so `engine/rules/run` is its own room and not part of `engine`. */
const rooms = [
  // Composition roots: files that lie directly in engine/ and control/.
  { room: 'engine', may: ['engine/*', common, gen] },
  // What both programs share.
  { room: common, may: [] },
  { room: base, may: [common] },
  { room: contract, may: [common, base, gen] },
  { room: 'engine/http', may: [common, base, contract] },
  {
    room: 'engine/match',
    may: [common, base, 'native-bindings', 'native-bindings/re2'],
  },
  // Calls of the operating system through the addon: sockets and memory.
  {
    room: 'engine/system',
    may: ['native-bindings', 'native-bindings/listen', 'native-bindings/files'],
  },
  // HTTP/2 sessions of the addon.
  { room: 'engine/http2', may: ['native-bindings'] },
  { room: 'engine/rules/language', may: [common, base] },
  // The state of one transaction, and what a linked rule is.
  { room: transaction, may: [common, base, contract, 'engine/match'] },
  // What authors of features write. Nothing of a transaction's life is here.
  { room: features, may: [common, base, contract, 'engine/match', transaction] },
  // What values are attacks: detectors, and the score of a request.
  { room: 'engine/detect', may: [common, base, contract] },
  // Fills a transaction's values from messages.
  { room: 'engine/rules/load', may: [common, base, contract, transaction, features] },
  {
    room: 'engine/rules/program',
    may: [common, base, contract, 'engine/rules/language', transaction, features],
  },
  {
    room: 'engine/rules/plan',
    may: [
      common,
      base,
      contract,
      'engine/match',
      'engine/rules/language',
      transaction,
      features,
      'engine/rules/program',
    ],
  },
  {
    room: 'engine/rules/run',
    may: [
      common,
      base,
      contract,
      'engine/match',
      'engine/detect',
      transaction,
      features,
      'engine/rules/load',
      'engine/rules/program',
      'engine/rules/plan',
    ],
  },
  {
    room: 'engine/rules/oracle',
    may: [
      common,
      base,
      contract,
      'engine/rules/language',
      transaction,
      features,
      'engine/rules/load',
      'engine/rules/program',
    ],
  },
  { room: 'engine/state', may: [common, base, contract, 'engine/system'] },
  { room: 'engine/guard', may: [common, base, contract, 'engine/state'] },
  // Whether a front thread is overloaded, and what it inspects meanwhile.
  { room: 'engine/overload', may: [common, base, contract] },
  // What requests to documented APIs may be.
  { room: 'engine/schema', may: [common, base, contract, 'engine/guard'] },
  // The order of steps of a request; live traffic and simulations carry them out.
  {
    room: 'engine/phases',
    may: [common, base, contract, features, 'engine/http', 'engine/guard', 'engine/schema'],
  },
  { room: 'engine/bundle', may: [common, base, contract, gen] },
  {
    room: 'engine/pool',
    may: [
      common,
      base,
      contract,
      'engine/rules/*',
      'engine/match',
      'engine/bundle',
      'engine/state',
    ],
  },
  { room: 'engine/upstream', may: [common, base, contract, 'engine/http'] },
  // From a client's first byte on a TLS port to the end of its handshake.
  { room: 'engine/tls', may: [common, base, contract] },
  // Bytes of heads and bodies, on their way and while they wait.
  {
    room: 'engine/front/wire',
    may: [common, base, contract, 'engine/http', 'engine/guard', 'engine/upstream'],
  },
  // What is counted, kept and told of requests.
  {
    room: 'engine/front/facts',
    may: [common, base, contract, 'engine/http', 'engine/system', 'engine/front/wire'],
  },
  // What all requests of one thread share.
  {
    room: 'engine/front',
    may: [
      common,
      base,
      contract,
      'engine/detect',
      'engine/http',
      'engine/guard',
      'engine/overload',
      'engine/schema',
      'engine/tls',
      'engine/upstream',
      'engine/front/wire',
      'engine/front/facts',
    ],
  },
  {
    room: 'engine/front/websocket',
    may: [common, base, contract, 'engine/http', 'engine/guard', 'engine/phases', ...frontParts],
  },
  // One request between its client and its origin.
  {
    room: 'engine/front/request',
    may: [
      common,
      base,
      contract,
      'engine/http',
      'engine/guard',
      'engine/phases',
      'engine/tls',
      'engine/upstream',
      ...frontParts,
      'engine/front/websocket',
    ],
  },
  // Listeners and connections of clients.
  {
    room: 'engine/front/clients',
    may: [
      common,
      base,
      contract,
      'engine/http',
      'engine/http2',
      'engine/system',
      'engine/tls',
      ...frontParts,
      'engine/front/request',
    ],
  },
  // The threads themselves: what starts, feeds and ends them.
  {
    room: 'engine/front/threads',
    may: [
      common,
      base,
      contract,
      'engine/http',
      'engine/guard',
      'engine/overload',
      'engine/schema',
      'engine/system',
      'engine/tls',
      'engine/upstream',
      ...frontParts,
      'engine/front/clients',
    ],
  },
  // What tests of all of it share.
  {
    room: 'engine/front/fixtures',
    may: [common, base, contract, 'engine/*'],
  },
  { room: 'engine/link', may: [common, base, contract, 'engine/bundle', 'engine/state', gen] },
  // What the process itself is: options, files it writes, memory it gives back.
  { room: 'engine/process', may: [common, base, contract, 'engine/system'] },
  // From a policy's text to the engine that runs it, and who holds it.
  {
    room: 'engine/policies',
    may: [common, base, contract, 'engine/rules/*', 'engine/detect', 'engine/pool'],
  },
  {
    room: 'engine/rollout',
    may: [common, base, contract, 'engine/rules/language', 'engine/policies'],
  },
  {
    room: 'engine/simulate',
    may: [
      common,
      base,
      contract,
      'engine/detect',
      'engine/http',
      'engine/guard',
      'engine/phases',
      'engine/schema',
      'engine/rules/*',
      'engine/policies',
      'engine/rollout',
      'engine/state',
    ],
  },
  // Entries of worker threads: each wires its rooms.
  { room: 'engine/threads', may: ['engine/*', common] },

  { room: 'control', may: ['control/*', common, gen] },
  // Bounds of the management plane, by the part that they bound.
  { room: limits, may: [gen] },
  {
    room: 'control/domain',
    // The detectors' rules: what can be excluded by number.
    may: [common, limits, 'engine/rules/language', 'engine/detect', gen],
  },
  { room: 'control/store', may: [common, limits, 'control/domain', 'native-bindings/files'] },
  // What IP lists hold, who uses them, and the feeds that fill them.
  { room: 'control/access', may: [common, limits, 'control/domain', 'control/store', gen] },
  // Ordering and renewing certificates from authorities.
  {
    room: 'control/acme',
    may: [common, limits, 'control/domain', 'control/store', 'control/access', gen],
  },
  // API documents: reading, placing and compiling them. Types of the engine's contract only.
  {
    room: 'control/documents',
    may: [common, contract, limits, 'control/domain', 'native-bindings/re2'],
  },
  // Asking a language model that an operator has set up.
  {
    room: 'control/assist',
    may: [common, limits, 'control/domain', 'control/store', 'control/access'],
  },
  {
    room: 'control/publish',
    may: [
      common,
      limits,
      'control/domain',
      'control/documents',
      'control/store',
      'control/access',
      gen,
    ],
  },
  { room: 'control/auth', may: [common, limits, 'control/domain', 'control/store'] },
  { room: 'control/observe', may: [common, limits, 'control/domain', 'control/store', gen] },
  // What leaves for systems of others: events to SIEM targets.
  {
    room: 'control/export',
    may: [common, limits, 'control/domain', 'control/store', 'control/access', gen],
  },
  // Evaluating rules of alerts, and sending what they find through channels.
  {
    room: 'control/alert',
    may: [
      common,
      limits,
      'control/domain',
      'control/store',
      'control/access',
      'control/observe',
      gen,
    ],
  },
  {
    room: 'control/api',
    may: [
      common,
      limits,
      'control/domain',
      'control/store',
      'control/access',
      'control/acme',
      'control/documents',
      'control/alert',
      'control/assist',
      'control/publish',
      'control/auth',
      'control/observe',
      'control/export',
      'control/release',
      gen,
    ],
  },
  // Packages of the running program, and releases of others.
  { room: 'control/release', may: [common, limits, 'control/domain'] },
  { room: 'control/supervisor', may: [common, limits, 'native-bindings/listen'] },
  {
    room: 'control/cli',
    may: [
      common,
      limits,
      'control/domain',
      'control/supervisor',
      'control/documents',
      'control/publish',
      'control/release',
      'control/store',
      gen,
    ],
  },
  // Pages in a browser: they speak the generated client only.
  { room: 'control/console', may: [gen] },
  // Plain JavaScript that runs before anything is installed.
  { room: 'control/setup', may: [] },

  { room: 'native-bindings', may: ['native-bindings/load'] },
  // Where the compiled addons lie.
  { room: 'native-bindings/load', may: [] },
  // Listening sockets: the supervisor holds them, engines accept from them.
  { room: 'native-bindings/listen', may: ['native-bindings/load'] },
  // Small enough for processes that match nothing.
  { room: 'native-bindings/files', may: ['native-bindings/load'] },
  // Patterns of API documents, which control checks and engines run.
  { room: 'native-bindings/re2', may: ['native-bindings/load'] },
  { room: gen, may: [] },
];

/** Packages and Node modules that only the named rooms may import. */
const packages = [
  { name: 'uWebSockets.js', only: ['engine/front/clients'] },
  { name: 'piscina', only: ['engine/pool'] },
  { name: 'lmdb', only: ['engine/state', 'control/store'] },
  { name: 'pg', only: ['control/store'] },
  { name: '@clickhouse/client', only: ['control/observe'] },
  { name: 'commander', only: ['control/cli'] },
  { name: 'preact', only: ['control/console'] },
  { name: '@connectrpc/connect-web', only: ['control/console'] },
];

/** Rooms whose inputs are injected: no file system, network, process or thread of their own. */
const pureRooms = ['engine/rules/*', 'engine/contract', 'engine/http', 'control/domain'];
const impureModules = [
  'fs',
  'fs/promises',
  'net',
  'tls',
  'http',
  'http2',
  'https',
  'dgram',
  'dns',
  'dns/promises',
  'child_process',
  'cluster',
  'worker_threads',
  'timers',
  'timers/promises',
];

/**
 * Files that may take part in a cycle of types: two halves of one recursive definition that would
 * not fit one file. A cycle of values is never allowed.
 */
const typeCycles = [
  // Features run over a transaction; the transaction knows the rule that is running.
  'engine/rules/transaction/types.ts',
  // A connection reports to its sink; the sink is handed the connection.
  'engine/upstream/origin-sink.ts',
];

/** Folders that are cruised; `test` and `bench` are leaves nobody imports. */
const sourceFolders = [
  'base',
  'engine',
  'control',
  'native-bindings',
  'proto/gen',
  'bench',
  'test',
];

module.exports = { rooms, packages, pureRooms, impureModules, typeCycles, sourceFolders };
