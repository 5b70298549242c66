/** The pieces of a bundle that map addresses: the country database that was uploaded. */

import { geoDatabases } from '../../store/collections.ts';
import type { PartKind } from './part-kind.ts';

/** The uploaded country database; nodes use the one that they come with when there is none. */
export const geoKind: PartKind = {
  name: 'geo',
  collections: ['geo-databases'],
  plan: (store) =>
    store
      .list(geoDatabases)
      .filter(({ kind }) => kind === 'country')
      .map(({ id, sha256, blob }) => ({
        id,
        inputs: [sha256],
        build: () => {
          const content = store.blob(blob) ?? new Uint8Array();
          return { geoDatabases: [{ kind: 'country', sha256, content }] };
        },
      })),
};
