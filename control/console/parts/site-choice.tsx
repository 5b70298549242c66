/** The choice of a site in the filter of a list. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { useCall } from '../call.ts';
import { transport } from '../session.ts';
import { t } from '../text/text.ts';
import { allItems } from './list.tsx';

const sites = createClient(SiteService, transport);

/** The sites by name; one that is not there any more stays chosen by its id. */
export function SiteChoice({
  chosen,
  change,
}: {
  readonly chosen: string;
  readonly change: (event: Event) => void;
}): JSX.Element {
  const found = useCall('sites', (signal) =>
    allItems((page) => sites.listSites({ page }, { signal })),
  );
  const known = (found.value ?? []).map(({ id, name }) => [id, name] as const);
  const gone = chosen !== '' && !known.some(([id]) => id === chosen);
  const choices = gone ? [...known, [chosen, chosen] as const] : known;
  return (
    <label>
      {t('attacks.site')}
      <select name="site" value={chosen} onChange={change}>
        <option value="">{t('common.all')}</option>
        {choices.map(([id, name]) => (
          <option value={id} selected={id === chosen}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
