/** The application that the first page of a site's origin shows. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { AppError } from '../../../base/errors.ts';
import type { CreateSiteResponseSchema } from '../../../proto/gen/waf/v1/site_pb.ts';
import {
  applicationNote,
  profileFor,
  recognizePage,
} from '../../domain/policy/application-notes.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { toBundleUpstream, upstreamOf, type BundleUpstream } from '../../publish/build-bundle.ts';
import { upstreams } from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import { policyOfSite } from '../log-service/explain-event.ts';
import { ours } from '../resource/owned.ts';

/** The part of an answer about an application. */
type FoundApplication = Pick<
  MessageInitShape<typeof CreateSiteResponseSchema>,
  'warnings' | 'recognizedApplication'
>;

/** What to say of the application that the origin's first page shows; nothing where none does. */
export async function applicationOf(
  { store, engine }: Uses<'store' | 'engine'>,
  site: SiteRecord,
): Promise<FoundApplication> {
  const pool = (id: string): BundleUpstream | undefined => {
    const record = ours(store.get(upstreams, id), site);
    return record === undefined ? undefined : toBundleUpstream(record);
  };
  const host = (site.primaryHost ?? '').replace(/^\*\./, 'www.');
  const page = await engine.firstPage(upstreamOf({ site }, { get: pool }), host).catch(noPage);
  const found = page === null || page.status === 0 ? null : recognizePage(page);
  const policy = policyOfSite(store, site.tenantId, site.id);
  if (found === null) return {};
  const { name, plugin } = found;
  return {
    warnings: [applicationNote(found, site.id, policy)],
    recognizedApplication: { name, plugin, profile: profileFor(name, policy) },
  };
}

/** The site is made: that nobody can ask its origin is no error of the call. */
function noPage(thrown: unknown): null {
  if (thrown instanceof AppError) return null;
  throw thrown;
}
