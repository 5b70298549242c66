/**
 * The pieces of a bundle that hold API checks: one for the wanted intent of every site that serves.
 * The piece has the intent's name, so that a publication tells which intents it carries.
 */

import { assembleChecks } from '../../documents/assemble-checks.ts';
import {
  operationIntents,
  schemaBindings,
  schemaContracts,
  schemaProfiles,
  sites,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { inheritedBody, type InheritedBody } from '../../domain/documents/body-inheritance.ts';
import type { OperationIntentRecord } from '../../domain/documents/operation-control.ts';
import { inheritedOfSite } from './site-body.ts';
import type { PartKind, PartPlan } from './part-kind.ts';

/** API checks of sites. */
export const apiCheckKind: PartKind = {
  name: 'api-checks',
  collections: ['operation-intents', 'policies', 'sites'],
  plan: (store) => [...planChecks(store)],
};

function* planChecks(store: ReadStore): Generator<PartPlan> {
  for (const site of store.list(sites)) {
    const [intent] = store.find(operationIntents, 'wanted', site.id);
    if (intent === undefined) continue;
    const { id, siteId } = intent;
    // The policy decides about nothing else in here.
    const inherited =
      intent.controls.bodies.length === 0 ? inheritedBody(null) : inheritedOfSite(store, site);
    const build = () => ({
      apiChecks: [{ siteId, checksJson: checksJson(store, intent, inherited) }],
    });
    // A text: two readings of one policy are equal, never identical.
    yield { id, inputs: [intent, JSON.stringify(inherited)], build };
  }
}

/** What engines get. Errors: a plain Error where an object is gone that the intent refers to. */
export function checksJson(
  store: ReadStore,
  intent: OperationIntentRecord,
  inherited: InheritedBody,
): Uint8Array {
  const { schema } = intent.controls;
  const json = <T>(blob: string | undefined): T => {
    const bytes = blob === undefined ? undefined : store.blob(blob);
    if (bytes === undefined) throw new Error(`an object of the intent ${intent.id} is gone`);
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as T;
  };
  const bound = schema !== null && schema.bindingId !== '';
  const checks = assembleChecks({
    intent,
    contract: schema === null ? null : json(store.get(schemaContracts, schema.contractId)?.blob),
    bindings: bound ? json(store.get(schemaBindings, schema.bindingId)?.blob) : null,
    artifact: bound ? json(store.get(schemaProfiles, schema.profileId)?.artifactBlob) : null,
    inherited,
  });
  return Buffer.from(JSON.stringify(checks), 'utf8');
}
