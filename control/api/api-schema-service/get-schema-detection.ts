/** ApiSchemaService/GetSchemaDetection: what checks found, counted exactly, without any value. */

import {
  GetSchemaDetectionResponseSchema,
  type ApiSchemaService,
  type GetSchemaDetectionRequest,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { create } from '@bufbuild/protobuf';
import { invalidField, refusal } from '../../domain/errors.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import {
  sumDetection,
  type DetectionSums,
  type OperationCounts,
  type ViolationCount,
} from '../../observe/detection-sums.ts';
import { resolvedLogPolicy } from '../../publish/parts/log-parts.ts';
import { schemaContracts } from '../../store/api-collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { wantedControls } from '../operation-control-service/intents.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { detectionIntervalMs, detectionWindow, type DetectionWindow } from './detection-window.ts';

const format = 'waf.schema_detection.v3';
const pageMax = 100;
const effective = ['path', 'query', 'header', 'cookie', 'body', 'body_control'];
/** A candidate of a body control stops nothing: its counts stand by themselves. */
const constraints = [...effective, 'body_candidate'];

/** A page of operations with their counts, or the whole contract in short. */
export function getSchemaDetection(
  parts: Uses<'store' | 'clock' | 'counters' | 'samples'>,
): Method<typeof ApiSchemaService, 'getSchemaDetection'> {
  return (request, context) => {
    const { store, clock, counters } = parts;
    const site = storedSite(store, callerOf(context), request.siteId, 'siteId');
    checkFields(request);
    const window = detectionWindow(request, clock.nowMs());
    const asked = contractOf(store, site, request);
    const { startMs, endMs } = window;
    const place = [site.tenantId, site.id, asked.contractId] as const;
    const all = counters.detection(...place, startMs, endMs);
    const ofBinding = all.filter(({ bindingId }) => bindingId === asked.bindingId);
    const sums = sumDetection(ofBinding);
    const chosen = request.fingerprint === '' ? null : fingerprintOf(parts, place, request);
    const document = {
      ...headOf(asked, window, sums, ofBinding.length),
      ...(request.inventorySummary
        ? summaryOf(asked.operationKeys, sums)
        : pageOf(asked.operationKeys, sums, chosen, request)),
      ...(request.includeViolationDetails
        ? detailsOf(parts, site, asked.contractId, chosen!, window)
        : {}),
    };
    const detectionJson = Buffer.from(canonicalJson(document), 'utf8');
    return create(GetSchemaDetectionResponseSchema, { detectionJson });
  };
}

/** Errors: invalid_argument for fields that exclude or need each other. */
function checkFields(request: GetSchemaDetectionRequest): void {
  const { includeViolationDetails, fingerprint, pageSize, offset, inventorySummary } = request;
  if (inventorySummary && (offset !== 0 || pageSize !== 0)) {
    throw invalidField('inventorySummary', 'needs offset and pageSize 0');
  }
  if (includeViolationDetails) {
    if (fingerprint === '') throw invalidField('fingerprint', 'is required with details');
    if (pageSize !== 1) throw invalidField('pageSize', 'must be 1 with details');
    if (inventorySummary) throw invalidField('inventorySummary', 'must be false with details');
  }
  if (request.detailCursor !== '') {
    throw invalidField('detailCursor', 'must be empty: all samples that are kept come at once');
  }
}

interface Asked {
  readonly siteId: string;
  readonly contractId: string;
  readonly bindingId: string;
  readonly operationKeys: readonly string[];
}

/** Errors: failed_precondition without a contract in use, not_found. */
function contractOf(
  store: ReadStore,
  site: SiteRecord,
  { contractId, bindingId }: GetSchemaDetectionRequest,
): Asked {
  const { schema } = wantedControls(store, site.id).controls;
  const id = contractId === '' ? (schema?.contractId ?? '') : contractId;
  if (id === '') {
    throw refusal('failed_precondition', 'contractId: the site uses no contract; name one');
  }
  const contract = store.get(schemaContracts, id);
  if (contract?.siteId !== site.id) {
    throw refusal('not_found', 'No contract with this id on this site.');
  }
  const current = schema?.contractId === id ? schema.bindingId : '';
  const operationKeys = keysOf(store.blob(contract.blob));
  return {
    siteId: site.id,
    contractId: id,
    bindingId: bindingId === '' ? current : bindingId,
    operationKeys,
  };
}

function keysOf(bytes: Uint8Array | undefined): string[] {
  if (bytes === undefined) return [];
  const { operations = [] } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
    readonly operations?: readonly { readonly key?: string }[];
  };
  return operations.map(({ key = '' }) => key).sort();
}

/** The kind that is asked for; it must come from what is kept of this contract. */
function fingerprintOf(
  { counters, clock }: Uses<'clock' | 'counters'>,
  place: readonly [tenantId: string, siteId: string, contractId: string],
  { fingerprint }: GetSchemaDetectionRequest,
): ViolationCount {
  const nowMs = clock.nowMs();
  const kept = counters.detection(...place, nowMs - observationLimits.detectionKeptMs, nowMs);
  const found = sumDetection(kept).violations.find((one) => one.fingerprint === fingerprint);
  if (found !== undefined) return found;
  throw refusal('not_found', 'fingerprint: nothing kept of this contract has it.');
}

function headOf(asked: Asked, window: DetectionWindow, sums: DetectionSums, rows: number) {
  const { siteId, contractId, bindingId } = asked;
  return {
    schema: format,
    site_id: siteId,
    contract_id: contractId,
    binding_id: bindingId,
    query_start: new Date(window.startMs).toISOString(),
    query_end: new Date(window.endMs).toISOString(),
    interval_seconds: String(detectionIntervalMs / 1_000),
    coverage: {
      intervals: String((window.endMs - window.startMs) / detectionIntervalMs),
      // Without traffic there is no row: a silent interval and a lost one look the same.
      intervals_with_counts: String(rows),
      start_clipped: window.clipped,
      counts_omitted: String(sums.omitted),
      missing_intervals: 'not_known',
    },
  };
}

/** All operations in short. */
function summaryOf(keys: readonly string[], sums: DetectionSums) {
  return {
    operations: keys.map((key) => {
      const found = sums.operations.get(key);
      const total = (result: string): string =>
        String(effective.reduce((sum, one) => sum + countOf(found, `${one} ${result}`), 0n));
      return {
        operation_key: key,
        requests: String(countOf(found, 'operation requests')),
        valid: total('valid'),
        violation: total('violation'),
        not_evaluated: total('not_evaluated'),
      };
    }),
    ...fallbackOf(keys, sums),
  };
}

function pageOf(
  allKeys: readonly string[],
  sums: DetectionSums,
  chosen: ViolationCount | null,
  { offset, pageSize }: GetSchemaDetectionRequest,
) {
  const keys = chosen === null ? allKeys : allKeys.filter((key) => key === chosen.operationKey);
  const size = pageSize === 0 ? pageMax : pageSize;
  const page = keys.slice(offset, offset + size);
  const next = offset + page.length;
  const violations = sums.violations.filter(
    ({ operationKey, fingerprint }) =>
      page.includes(operationKey) && (chosen === null || fingerprint === chosen.fingerprint),
  );
  return {
    operations: page.map((key) => {
      const found = sums.operations.get(key);
      return {
        operation_key: key,
        requests: String(countOf(found, 'operation requests')),
        constraints: constraints.flatMap((name) => constraintOf(found, name)),
        violations: violations.filter((one) => one.operationKey === key).map(violationOf),
      };
    }),
    total: String(keys.length),
    offset: String(offset),
    next_offset: next < keys.length ? String(next) : '',
    ...fallbackOf(allKeys, sums),
  };
}

/** What belongs to no operation of the contract. */
function fallbackOf(keys: readonly string[], sums: DetectionSums) {
  const known = new Set(keys);
  let other = 0n;
  for (const [key, found] of sums.operations) {
    if (key !== '' && !known.has(key)) other += countOf(found, 'operation requests');
  }
  return {
    fallback: {
      undeclared: String(countOf(sums.operations.get(''), 'operation undeclared')),
      other_operations: String(other),
    },
  };
}

function constraintOf(found: OperationCounts | undefined, constraint: string) {
  const [valid, violation, notEvaluated] = ['valid', 'violation', 'not_evaluated'].map((result) =>
    countOf(found, `${constraint} ${result}`),
  );
  if (valid === 0n && violation === 0n && notEvaluated === 0n) return [];
  return [
    {
      constraint,
      valid: String(valid),
      violation: String(violation),
      not_evaluated: String(notEvaluated),
    },
  ];
}

function violationOf({ fingerprint, location, keyword, pointer, count }: ViolationCount) {
  return { fingerprint, location, keyword, pointer, count: String(count) };
}

/**
 * Samples of one kind of violation of the contract, newest first: requests that broke the checks
 * of an operation. Of what body controls find, and of `other`, there are none.
 */
function detailsOf(
  { samples, store }: Uses<'store' | 'samples'>,
  { tenantId, id: siteId }: SiteRecord,
  contractId: string,
  chosen: ViolationCount,
  { startMs, endMs }: DetectionWindow,
) {
  const { fingerprint } = chosen;
  const found = samples.list({ tenantId, siteId, contractId, fingerprint }, startMs, endMs);
  const keeps = resolvedLogPolicy(store, siteId).effective.schemaViolationDetails === true;
  const absent = keeps
    ? 'none was kept in this window'
    : 'the log policy of the site keeps none (schemaViolationDetails)';
  return {
    details: {
      ...violationOf(chosen),
      operation_key: chosen.operationKey,
      samples: found.map(({ requestId, agentId, atMs, action, status }) => ({
        request_id: requestId,
        node_id: agentId,
        occurred_at: new Date(atMs).toISOString(),
        action,
        status: String(status),
      })),
      samples_state: found.length > 0 ? 'available' : 'unavailable',
      samples_reason: found.length > 0 ? '' : absent,
      samples_kept_max: String(observationLimits.violationSamplesMax),
      next_detail_cursor: '',
    },
  };
}

function countOf(found: OperationCounts | undefined, place: string): bigint {
  return found?.counts.get(place) ?? 0n;
}
