/**
 * The piece of a bundle that holds verifiers of people, with their secrets. It is there only while
 * a site verifies people.
 */

import { allowedNetworksOf } from '../../domain/settings/outgoing-settings.ts';
import { verifiersOf } from '../../domain/site/bot-verifiers.ts';
import { settingsId, sites, systemSettings } from '../../store/collections.ts';
import type { PartKind } from './part-kind.ts';
import { verifiesPeople } from './site-bot.ts';

/** Verifiers of people. */
export const verifierKind: PartKind = {
  name: 'verifiers',
  collections: ['settings', 'sites'],
  plan: (store) => {
    const values = store.get(systemSettings, settingsId)?.values ?? {};
    const verifiers = verifiersOf(values);
    if (verifiers.length === 0 || !store.list(sites).some(verifiesPeople)) return [];
    const allowedNetworks = [...allowedNetworksOf(values)];
    const travelling = verifiers.map((one) => ({
      ...one,
      hosts: [...one.hosts],
      allowedNetworks,
    }));
    const build = () => ({ verifiers: travelling });
    return [{ id: '', inputs: [JSON.stringify(travelling)], build }];
  },
};
