/** The declaration that a site uses, and what a draft that adds an operation to it builds on. */

import type { JsonObject } from '../../documents/pointer.ts';
import type { ContractDocument } from '../../documents/stored-documents.ts';
import { refusal } from '../../domain/errors.ts';
import { schemaContracts, schemaSources } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { wantedControls } from '../operation-control-service/intents.ts';
import { contentJson } from './objects.ts';

/** A declaration with its document; null where the site uses none. */
export interface DeclarationInUse {
  readonly contract: ContractDocument | null;
  readonly document: JsonObject | null;
  /** Of the document. */
  readonly name: string | undefined;
}

/** Errors: aborted where another declaration than the expected one is in use. */
export function declarationInUse(
  store: ReadStore,
  siteId: string,
  expectedContractId: string,
): DeclarationInUse {
  const { schema } = wantedControls(store, siteId).controls;
  if ((schema?.contractId ?? '') !== expectedContractId) {
    throw refusal('aborted', 'expectedContractId: another declaration is in use; read it again');
  }
  const record = schema === null ? undefined : store.get(schemaContracts, schema.contractId);
  const contract = record === undefined ? null : contentJson<ContractDocument>(store, record.blob);
  const source = record === undefined ? undefined : store.get(schemaSources, record.sourceId);
  const document =
    source === undefined ? null : contentJson<JsonObject>(store, source.documentBlob);
  return { contract, document, name: source?.name };
}

/** The mappings of the contract, with one for the endpoint's host where none takes it. */
export function mappingsWith(
  contract: ContractDocument | null,
  { host, path }: { readonly host: string; readonly path: string },
): { mappings: ContractDocument['mappings']; basePath: string } {
  const mappings = contract?.mappings ?? [];
  const [taken] = mappings
    .filter((one) => one.host === host)
    .filter((one) => path === one.basePath || path.startsWith(`${one.basePath}/`))
    .sort((one, other) => other.basePath.length - one.basePath.length);
  if (taken !== undefined) return { mappings, basePath: taken.basePath };
  const own = { host, basePath: '', methods: [], variables: {}, serverUrl: '', approved: true };
  return { mappings: [...mappings, own], basePath: '' };
}
