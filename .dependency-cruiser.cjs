/** Turns the table in test/tidy/arrows.cjs into dependency-cruiser rules; holds no rule of its own
 * but those for cycles, leaves and unresolvable imports. */
'use strict';

const { rooms, packages, pureRooms, impureModules, typeCycles } = require('./test/tidy/arrows.cjs');

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const below = (folder) => `^${escape(folder)}/`;
/** Composition roots own only the files that lie directly in their folder. */
const isRoot = (room) => room === 'engine' || room === 'control';
const roomsBelow = (room) => rooms.map((r) => r.room).filter((r) => r.startsWith(`${room}/`));
/** Files of a room: what lies in rooms below it is not its own. */
const ownFiles = (room) => {
  if (isRoot(room)) return `^${room}/[^/]+$`;
  const inner = roomsBelow(room).map((r) => escape(r.slice(room.length + 1)));
  return inner.length === 0 ? below(room) : `${below(room)}(?!(?:${inner.join('|')})/)`;
};
const expand = (entry) => (entry.endsWith('/*') ? below(entry.slice(0, -2)) : ownFiles(entry));
const tests = '\\.test\\.ts$';
const ours = '^(base|engine|control|native-bindings|proto|bench|test)/';

const arrowRules = rooms.map(({ room, may }) => ({
  name: `arrow: ${room}`,
  comment: `${room} may import: ${may.join(', ') || 'nothing of ours'}`,
  severity: 'error',
  from: {
    path: ownFiles(room),
    pathNot: tests,
  },
  to: { path: ours, pathNot: [ownFiles(room), ...may.map(expand)] },
}));

const packageRules = packages.map(({ name, only }) => ({
  name: `package: ${name}`,
  comment: `${name} belongs to ${only.join(', ')}`,
  severity: 'error',
  from: { path: '^(base|engine|control|native-bindings)/', pathNot: [tests, ...only.map(below)] },
  to: { path: `(^|/)node_modules/${escape(name)}/` },
}));

module.exports = {
  forbidden: [
    ...arrowRules,
    ...packageRules,
    {
      name: 'pure rooms',
      comment: 'inputs are injected: no file system, network, clock, process or thread',
      severity: 'error',
      from: { path: pureRooms.map(expand), pathNot: tests },
      to: { path: `^(node:)?(${impureModules.map(escape).join('|')})$`, dependencyTypes: ['core'] },
    },
    {
      name: 'no cycles',
      comment: 'type-only cycles included, but for the files that the table names',
      severity: 'error',
      from: {},
      to: {
        circular: true,
        viaOnly: { pathNot: typeCycles.map((path) => `^${escape(path)}$`).join('|') },
      },
    },
    {
      name: 'no cycles of values',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'leaves',
      comment: 'nobody imports bench/, nobody but tests imports test/',
      severity: 'error',
      from: { path: ours, pathNot: ['^(test|bench)/', tests] },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'engine never imports control',
      severity: 'error',
      from: { path: '^engine/' },
      to: { path: '^control/' },
    },
    {
      name: 'nobody imports a main',
      severity: 'error',
      from: { pathNot: '^(test|bench)/|\\.test\\.ts$' },
      to: { path: '(^|/)main\\.ts$' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(\\.build|\\.cache|build|var|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['import', 'node', 'default'],
      exportsFields: ['exports'],
    },
    cache: false,
  },
};
