/** Puts the checks of a site together from the immutable objects that an intent refers to. Pure. */

import {
  apiChecksFormat,
  type ApiChecks,
  type ApiMode,
  type ApiOperation,
} from '../../engine/contract/api-checks.ts';
import type { InheritedBody } from '../domain/documents/body-inheritance.ts';
import type { OperationIntentRecord } from '../domain/documents/operation-control.ts';
import { compileBodyControls } from './compile-body-controls.ts';
import { parsePath } from './path-template.ts';
import type { BindingsDocument, ContractDocument, ProfileArtifact } from './stored-documents.ts';

/** What checks are made of. */
export interface CheckParts {
  readonly intent: Pick<
    OperationIntentRecord,
    'id' | 'siteId' | 'controlRevision' | 'snapshotSha256' | 'controls'
  >;
  /** Null where no document is in use. */
  readonly contract: ContractDocument | null;
  /** Null where the declaration alone is published. */
  readonly bindings: BindingsDocument | null;
  readonly artifact: ProfileArtifact | null;
  /** What body controls take from the site's policy. */
  readonly inherited: InheritedBody;
}

/** The checks as engines get them. */
export function assembleChecks(parts: CheckParts): ApiChecks {
  const { intent, contract, bindings, artifact, inherited } = parts;
  const { schema } = intent.controls;
  const modes = new Map(bindings?.operations.map(({ key, mode }) => [key, mode]));
  return {
    format: apiChecksFormat,
    siteId: intent.siteId,
    intentId: intent.id,
    controlRevision: String(intent.controlRevision),
    snapshotSha256: intent.snapshotSha256,
    contractId: schema?.contractId ?? '',
    bindingId: schema?.bindingId ?? '',
    scopes: (contract?.scopes ?? []).map(({ host, basePath }) => ({
      host,
      basePath: decodePath(basePath),
      undeclared: schema?.undeclaredAction ?? 'allow',
    })),
    operations: (contract?.operations ?? []).map((one) =>
      operationOf(one, modes.get(one.key) ?? 'off', artifact),
    ),
    bodyControls: compileBodyControls(intent.controls.bodies, contract, inherited),
    code: artifact?.code ?? '',
  };
}

function operationOf(
  { key, assetId, method, host, path, pointer }: ContractDocument['operations'][number],
  mode: ApiMode,
  artifact: ProfileArtifact | null,
): ApiOperation {
  const parsed = parsePath(path);
  const segments = 'segments' in parsed ? parsed.segments : [];
  const checks = mode === 'off' ? undefined : artifact?.operations[key];
  const placed = { key, assetId, method, host, path: segments, mode, pointer };
  if (checks === undefined)
    return { ...placed, mode: 'off', parameters: [], unknownQuery: 'allow' };
  const { parameters, unknownQuery, body } = checks;
  return { ...placed, parameters, unknownQuery, ...(body === undefined ? {} : { body }) };
}

/** Base paths were parsed with the paths below them: they decode. */
function decodePath(path: string): string {
  return path.split('/').map(decodeURIComponent).join('/');
}
