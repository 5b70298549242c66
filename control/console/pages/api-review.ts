/**
 * The way of an API document to checks that are in force: what it declares, its checks, which of
 * them are used, the review, and what was reviewed put in force. Nothing acts before the last.
 */

import { createClient } from '@connectrpc/connect';
import {
  ApiSchemaService,
  type SchemaControlApproval,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { transport } from '../session.ts';

const schemas = createClient(ApiSchemaService, transport);

/** What becomes of a request that breaks a check. */
export type Mode = 'off' | 'observe' | 'enforce';

/** What is wanted of a document. */
export interface Wanted {
  readonly siteId: string;
  readonly sourceId: string;
  readonly host: string;
  /** '' for the root. */
  readonly basePath: string;
  readonly mode: 'observe' | 'enforce';
  /** Also operations of which something is not checked are enforced. */
  readonly partial: boolean;
  /** Operations that may be one of several known ones become new ones. */
  readonly newEntries: boolean;
  /** What becomes of requests that no operation takes; '' keeps it. */
  readonly undeclared: string;
}

/** One operation under review. */
export interface Reviewed {
  readonly key: string;
  readonly before: Mode;
  readonly after: Mode;
  readonly checked: number;
  readonly unchecked: number;
}

/** A change that can be put in force. */
export interface Review {
  readonly operations: readonly Reviewed[];
  readonly removed: readonly string[];
  readonly undeclared: readonly [before: string, after: string];
  readonly approval: SchemaControlApproval | undefined;
  /** Why nodes cannot carry it out; '' where they can. */
  readonly unsupported: string;
}

/** What a review found that a person has to decide. */
export class Unclear extends Error {
  readonly keys: readonly string[];

  constructor(keys: readonly string[]) {
    super(keys.join(', '));
    this.keys = keys;
  }
}

/** What is in force on a site. */
export interface InForce {
  readonly undeclaredAction: string;
  readonly operations: readonly { readonly key: string; readonly mode: Mode }[];
}

/** Reads what is in force. */
export async function readInForce(siteId: string, signal: AbortSignal): Promise<InForce> {
  const { validationJson } = await schemas.getSchemaValidation({ siteId }, { signal });
  return fromJson<InForce>(validationJson);
}

/** Stages a document and reviews it. Errors: Unclear, ConnectError. */
export async function review(wanted: Wanted): Promise<Review> {
  const { siteId, sourceId, host, basePath, undeclared } = wanted;
  const mappings = [{ host, basePath, serverUrl: '', approved: true }];
  const { validationJson } = await schemas.getSchemaValidation({ siteId });
  const now = fromJson<InForce & { readonly snapshotSha256: string }>(validationJson);
  const contractId = await stageDeclaration(wanted, mappings);
  const { profile } = await schemas.stageSchemaProfile({ siteId, sourceId, mappings });
  const profileId = profile?.id ?? '';
  const operations = await reviewed(wanted, profileId, now);
  const bindingId = await stageModes(siteId, contractId, profileId, operations);
  const preview = await schemas.previewSchemaControl({
    ...{ siteId, action: 'activate', contractId, bindingId, undeclaredAction: undeclared },
  });
  const changes = fromJson<{
    readonly removed: readonly string[];
    readonly undeclaredAction: readonly [string, string];
  }>(preview.changesJson);
  const { unsupported } = fromJson<{ readonly unsupported: string }>(preview.resourcesJson);
  return {
    operations,
    removed: changes.removed,
    undeclared: changes.undeclaredAction,
    approval: preview.approval,
    unsupported: preview.executionSupported ? '' : unsupported,
  };
}

/** Puts what was reviewed in force. Errors: ConnectError, where something changed in between. */
export async function putInForce({ approval }: Review, reason: string): Promise<void> {
  await schemas.changeSchemaControl({
    ...(approval === undefined ? {} : { approval }),
    reason,
    idempotencyKey: window.crypto.randomUUID(),
    // All of it was shown.
    impactAcknowledged: true,
    resourceAcknowledged: true,
    typeOnlyAcknowledged: true,
    acceptPartial: approval?.requiresPartialAcceptance === true,
  });
}

interface PlacedServer {
  readonly host: string;
  readonly basePath: string;
  readonly serverUrl: string;
  readonly approved: boolean;
}

async function stageDeclaration(
  { siteId, sourceId, newEntries }: Wanted,
  mappings: PlacedServer[],
): Promise<string> {
  const request = { siteId, sourceId, mappings };
  const preview = await schemas.previewApiDeclaration(request);
  const { scopes } = fromJson<{ readonly scopes: readonly { readonly sha256: string }[] }>(
    preview.declarationJson,
  );
  const { operations } = fromJson<{
    readonly operations: readonly { readonly key: string; readonly state: string }[];
  }>(preview.reconciliationJson);
  const unclear = operations.filter(({ state }) => state === 'ambiguous').map(({ key }) => key);
  if (unclear.length > 0 && !newEntries) throw new Unclear(unclear);
  const { contract } = await schemas.stageApiDeclaration({
    ...request,
    reportSha256: preview.reportSha256,
    catalogSha256: preview.catalogSha256,
    decisions: unclear.map((key) => ({ key, createNew: true, acknowledged: true })),
    coverage: scopes.map(({ sha256 }) => ({
      ...{ scopeSha256: sha256, state: 'partial', acknowledged: true },
    })),
  });
  return contract?.id ?? '';
}

async function reviewed(
  { siteId, mode, partial }: Wanted,
  profileId: string,
  now: InForce,
): Promise<Reviewed[]> {
  const { profileJson } = await schemas.getSchemaProfile({ siteId, profileId });
  const { operations } = fromJson<{
    readonly operations: readonly {
      readonly key: string;
      readonly checked?: number;
      readonly unchecked?: number;
    }[];
  }>(profileJson);
  const modes = new Map(now.operations.map((one) => [one.key, one.mode]));
  return operations
    .filter(({ key }) => key !== '')
    .map(({ key, checked = 0, unchecked = 0 }) => {
      const enforced = mode === 'enforce' && (unchecked === 0 || partial);
      const after: Mode = checked === 0 ? 'off' : enforced ? 'enforce' : 'observe';
      return { key, checked, unchecked, before: modes.get(key) ?? 'off', after };
    });
}

/** Stages which operations are used, and how; '' where none is. */
async function stageModes(
  siteId: string,
  declarationId: string,
  profileId: string,
  operations: readonly Reviewed[],
): Promise<string> {
  const used = operations.filter(({ after }) => after !== 'off');
  if (used.length === 0) return '';
  const { bindings } = await schemas.stageSchemaBindings({
    ...{ siteId, declarationId, profileId },
    operationKeys: used.map(({ key }) => key),
    enforceOperationKeys: used.filter(({ after }) => after === 'enforce').map(({ key }) => key),
    acceptPartial: used.some(({ unchecked }) => unchecked > 0),
  });
  return bindings?.id ?? '';
}

function fromJson<T>(bytes: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}
