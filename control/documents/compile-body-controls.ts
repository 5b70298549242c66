/** Body controls as engines get them, from what is approved and what the policy adds. Pure. */

import type {
  ApiBodyControl,
  ApiBodyControls,
  ApiBodyRule,
} from '../../engine/contract/body-control.ts';
import type { InheritedBody } from '../domain/documents/body-inheritance.ts';
import {
  jsonSha256,
  type BodyControl,
  type BodySlot,
} from '../domain/documents/operation-control.ts';
import { parsePath } from './path-template.ts';
import type { ContractDocument } from './stored-documents.ts';

/** A site without body controls. */
export const noBodyControls: ApiBodyControls = { operations: [], readings: [], policySha256: '' };

/** Compiles the body controls of a site. `contract` is null where no document is in use. */
export function compileBodyControls(
  bodies: readonly BodyControl[],
  contract: ContractDocument | null,
  inherited: InheritedBody,
): ApiBodyControls {
  if (bodies.length === 0) return noBodyControls;
  const keys = new Map(contract?.operations.map(({ assetId, key }) => [assetId, key]));
  return {
    operations: bodies.map((body) => controlOf(body, keys.get(body.apiAssetId), inherited)),
    readings: inherited.readings,
    policySha256: jsonSha256(inherited),
  };
}

function controlOf(
  { apiAssetId, effective, candidate }: BodyControl,
  declaredKey: string | undefined,
  inherited: InheritedBody,
): ApiBodyControl {
  const { method, host, path } = (effective ?? candidate)!.spec.scope;
  const parsed = parsePath(path);
  if ('problem' in parsed) throw new Error(`the path of ${apiAssetId} ${parsed.problem}`);
  return {
    assetId: apiAssetId,
    key: declaredKey ?? `${method} ${host}${path}`,
    method,
    host,
    path: parsed.segments,
    ...(effective === undefined ? {} : { effective: compileBodyRule(effective, inherited) }),
    ...(candidate === undefined ? {} : { candidate: compileBodyRule(candidate, inherited) }),
  };
}

/** One slot as engines carry it out. */
export function compileBodyRule(
  { specRevision, spec }: BodySlot,
  { fileBytes, totalFileBytes, bodyBytes }: InheritedBody,
): ApiBodyRule {
  const { allowedFamilies: families, mismatchAction: mismatch, upload } = spec;
  if (upload === null) return { specRevision, families, mismatch };
  const { minFiles, maxFiles, contentTypes, fields } = upload;
  const asked = { minFiles, maxFiles, contentTypes, fields };
  const capacity = { fileBytes, totalFileBytes, bodyBytes };
  return { specRevision, families, mismatch, upload: { ...asked, ...capacity } };
}
