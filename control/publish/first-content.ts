/** The first start: the default ruleset, the templates, the default policy, the demo site. */

import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { builtInTemplates, templateIds } from '../domain/policy/policy-templates.ts';
import { defaultTenantId, type PolicyRecord } from '../domain/records.ts';
import { policies, rulesets, sites } from '../store/collections.ts';
import type { Store, WriteStore } from '../store/store.ts';
import { keepFactoryVersions } from './policy-versions.ts';
import { storeRuleset } from './rulesets/stored-rulesets.ts';
import { builtInCrsFolder, readRulesetFolder } from './rulesets/ruleset-folder.ts';

/** Ruleset that comes with the system. */
export const defaultRulesetId = 'crs-default';
const demoSiteId = 'site-demo';

/** What the first start makes. */
export interface FirstContentOptions {
  /** Origin of the demo site; null leaves the site out. */
  readonly demoOrigin: string | null;
  readonly rulesetFolder?: string;
}

/** Makes what is missing; resolves to true in a store that was empty. */
export async function ensureFirstContent(
  store: Store,
  clock: Clock,
  logger: Logger,
  options: FirstContentOptions,
): Promise<boolean> {
  const now = new Date(clock.nowMs()).toISOString();
  const empty = store.list(policies).length === 0;
  if (store.get(rulesets, defaultRulesetId) === undefined) {
    await addDefaultRuleset(store, now, logger, options.rulesetFolder ?? builtInCrsFolder);
  }
  if (empty) {
    const crsRulesetId = store.get(rulesets, defaultRulesetId)?.id ?? '';
    await store.write((tx) => {
      for (const template of builtInTemplates) {
        tx.put(policies, builtIn(template.id, true, template, crsRulesetId, now));
        const id = template.id.replace('template-', 'policy-');
        tx.put(policies, builtIn(id, false, template, crsRulesetId, now));
      }
    });
  }
  await store.write(keepFactoryVersions);
  const { demoOrigin } = options;
  if (demoOrigin !== null) await store.write((tx) => keepDemoSite(tx, demoOrigin, now, empty));
  return empty;
}

async function addDefaultRuleset(
  store: Store,
  now: string,
  logger: Logger,
  folder: string,
): Promise<void> {
  try {
    const read = readRulesetFolder(folder);
    await store.write((tx) =>
      storeRuleset(tx, read, {
        id: defaultRulesetId,
        source: 'vendor',
        status: 'active',
        ingestedAt: now,
        activatedAt: now,
      }),
    );
  } catch (error) {
    logger.warn('no default ruleset: policies run only their own rules until one is imported', {
      folder,
      reason: toAppError(error).message,
    });
  }
}

function builtIn(
  id: string,
  isTemplate: boolean,
  template: (typeof builtInTemplates)[number],
  crsRulesetId: string,
  now: string,
): PolicyRecord {
  return {
    ...template,
    id,
    tenantId: defaultTenantId,
    isTemplate,
    isDefault: !isTemplate && template.id === templateIds.light,
    builtin: true,
    status: 'active',
    crsRulesetId,
    revision: '1',
    createdAt: now,
    updatedAt: now,
  };
}

/** Makes the demo site in an empty store; later only follows the address of its origin. */
function keepDemoSite(tx: WriteStore, origin: string, now: string, empty: boolean): void {
  const before = tx.get(sites, demoSiteId);
  if (before === undefined && !empty) return;
  const upstreams = [{ inline: { url: origin, weight: 1 } }];
  if (before !== undefined) {
    if (before.upstreams?.[0]?.inline?.url === origin) return;
    tx.put(sites, { ...before, upstreams, updatedAt: now });
    return;
  }
  tx.put(sites, {
    id: demoSiteId,
    tenantId: defaultTenantId,
    name: 'demo',
    primaryHost: 'localhost',
    aliases: ['127.0.0.1'],
    upstreams,
    tls: { mode: 'TLS_MODE_NONE' },
    waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId: 'policy-standard' },
    status: 'RESOURCE_STATUS_ACTIVE',
    revision: '1',
    createdAt: now,
    updatedAt: now,
  });
}
