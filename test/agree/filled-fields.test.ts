/**
 * Finds fields of answers that nothing fills: a field that no code writes has a reason here. What
 * the engine answers for control counts by the folders that make it; what callers send and get back
 * as they sent it is no field that code fills.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { DescMessage, DescService } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { AgentService } from '../../proto/gen/waf/v1/agent_pb.ts';
import { AlertService } from '../../proto/gen/waf/v1/alert_pb.ts';
import { ApiSchemaService } from '../../proto/gen/waf/v1/api_schema_pb.ts';
import { LogService } from '../../proto/gen/waf/v1/log_pb.ts';
import { OperationControlService } from '../../proto/gen/waf/v1/operation_control_pb.ts';
import { PolicyService } from '../../proto/gen/waf/v1/policy_pb.ts';
import { SiteService } from '../../proto/gen/waf/v1/site_pb.ts';
import { SystemService } from '../../proto/gen/waf/v1/system_pb.ts';
import { TrustService } from '../../proto/gen/waf/v1/trust_pb.ts';

const root = path.resolve(import.meta.dirname, '../..');
const rooms = ['api', 'observe', 'domain', 'publish', 'export', 'alert', 'auth', 'access', 'store'];

/** Fields that stay empty, and why; `proto/README.md` says it to clients. */
const unfilled: Readonly<Record<string, string>> = {
  'DashboardFreshness.observationLastDropAt': 'nodes count what they drop, without a time',
  'ObservationLaneStats.panicked': 'nothing panics in Node: what fails is in `lastError`',
  'ObservationLaneStats.sampledClientLimit': 'no lane samples by client',
  'ObservationLaneStats.sampledGlobalBudget': 'no lane samples by a budget',
  'ObservationLaneStats.sampledQueuePressure': 'what a full queue loses is in `dropped`',
  'ObservationPipelineStats.boundaryPanics': 'nothing panics in Node',
  'ObservationPipelineStats.lateDetailBeyondRetention': 'late details are kept until the next pass',
  'ObservationPipelineStats.lateMetricBeyondRetention': 'late counts are kept until the next pass',
  'ObservationPipelineStats.panickedTotal': 'nothing panics in Node',
  'SecurityMessage.chainLevel': 'a message is of a whole chain; `links` has its parts',
  'SecurityMessage.errorMessage': 'a rule that fails is the failure of its request, in `raw`',
};

/** Names of the sources that make answers. */
function namesOf(sources: readonly string[]): ReadonlySet<string> {
  return new Set(sources.flatMap((text) => text.match(/[A-Za-z_]\w*/g) ?? []));
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(path.join(folder, name), 'utf8'));
}

/** Fields of the messages that a service answers with, the inner ones too, by their full names. */
function answeredFields(services: readonly DescService[]): Map<string, string> {
  const found = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (message: DescMessage): void => {
    if (seen.has(message.typeName) || !message.typeName.startsWith('waf.')) return;
    seen.add(message.typeName);
    for (const field of message.fields) {
      found.set(`${message.name}.${field.localName}`, field.localName);
      if (field.message !== undefined) visit(field.message);
    }
  };
  for (const service of services) for (const { output } of service.methods) visit(output);
  return found;
}

test('every field of an answer about observations has a source, or a reason', () => {
  const folders = [...rooms.map((room) => path.join('control', room)), 'base'];
  const names = namesOf(folders.flatMap((folder) => sourcesIn(path.join(root, folder))));
  const fields = answeredFields([LogService, SystemService, AlertService]);
  expect(fields.size).toBeGreaterThan(300);
  const empty = [...fields].filter(([, name]) => !names.has(name)).map(([full]) => full);
  expect(empty.filter((field) => !(field in unfilled))).toEqual([]);
  const readme = readFileSync(path.join(root, 'proto', 'README.md'), 'utf8');
  for (const field of empty) expect([field, readme.includes(field)]).toEqual([field, true]);
  // The check finds a field that nothing names.
  expect(names.has('evidenceBundleId')).toBe(true);
  expect(namesOf(['const a = 1;']).has('evidenceBundleId')).toBe(false);
});

/** Where the engine makes what control passes on: load of nodes, whose address a request has. */
const engineRooms = ['link', 'guard', 'process'];

/** Messages that hold what callers set: control keeps and returns them whole. */
const asSent = [
  ...['CrsCoreSettings', 'HttpPolicy', 'ArgLimits', 'BodyProcessorOverride'],
  ...['UpstreamResiliencePolicy', 'UpstreamTls', 'UpstreamHealthCheck', 'BotProtectionConfig'],
  'MaintenanceMode',
];

/**
 * Names that sources write: keys of literals (types aside), shorthands and assignments, and names
 * in quotes, as lists of columns have them.
 */
function writtenIn(sources: readonly string[]): ReadonlySet<string> {
  const type = String.raw`(?!\s*(?:string|number|boolean|bigint|readonly|\w+\[\])\s*[;,])`;
  const writing = new RegExp(
    [
      String.raw`(?<![.\w])(\w+)\s*:${type}`,
      String.raw`(?<=[{,]\s*)(\w+)(?=\s*[,}])`,
      String.raw`\.(\w+)\s*=(?!=)`,
      String.raw`'(\w+)'`,
    ].join('|'),
    'g',
  );
  const names = sources.flatMap((text) => [...text.matchAll(writing)].map((one) => one.slice(1)));
  return new Set(names.flat().filter((name) => name !== undefined));
}

test('every field of an answer about nodes, controls, documents and sites is written', () => {
  const folders = [
    ...rooms.map((room) => path.join('control', room)),
    ...engineRooms.map((room) => path.join('engine', room)),
    'base',
  ];
  const written = writtenIn(folders.flatMap((folder) => sourcesIn(path.join(root, folder))));
  const services = [AgentService, TrustService, OperationControlService, ApiSchemaService];
  const fields = answeredFields([...services, PolicyService, SiteService]);
  expect(fields.size).toBeGreaterThan(800);
  const empty = [...fields]
    .filter(([full, name]) => !written.has(name) && !asSent.includes(full.split('.')[0]!))
    .map(([full]) => full);
  expect(empty).toEqual([]);
  // The check tells a name that is written from one that a type or a condition has.
  const planted = 'interface A { readonly one: string; } if (a.two === b) c = { three: 1, four };';
  expect([...writtenIn([planted])].sort()).toEqual(['four', 'three']);
});
