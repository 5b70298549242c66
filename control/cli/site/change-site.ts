/** Changes a site from what it is now, and shows it: what the commands on one site share. */

import type { Site, SiteJson } from '../../../proto/gen/waf/v1/site_pb.ts';
import { againWhenChanged, givenRevision, isRevisionGiven } from '../change-attempts.ts';
import type { CommandContext, FlagValues } from '../command.ts';
import type { Table } from '../output.ts';
import { readMessage, showMessage } from '../show.ts';

/** Fields of a site in their JSON form, and the mask that names them. */
export interface SiteChange {
  readonly value: SiteJson;
  readonly mask: readonly string[];
}

/** The change of fields of one message in a site. */
export function changeWithin(field: keyof SiteJson, fields: object): SiteChange {
  const mask = Object.keys(fields).map((name) => `${field}.${name}`);
  return { value: { [field]: fields }, mask };
}

/**
 * Changes what `make` makes of the site as it is, and makes it again where somebody else changed
 * the site meanwhile; an empty mask changes nothing. The site before and after. Errors: AppError
 * bad_flag naming `where`.
 */
export async function changeSite(
  context: CommandContext,
  id: string,
  make: (before: Site | undefined) => SiteChange,
  { flags = {}, where = 'flags' }: { readonly flags?: FlagValues; readonly where?: string } = {},
): Promise<{ readonly before: Site | undefined; readonly site: Site | undefined }> {
  const { SiteSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
  const { sites } = await context.api();
  return againWhenChanged(async () => {
    const { site: before } = await sites.getSite({ id });
    const { value, mask } = make(before);
    if (mask.length === 0) return { before, site: before };
    const answer = await sites.updateSite({
      site: await readMessage(SiteSchema, { id, ...value }, where),
      revision: givenRevision(flags) ?? before?.revision ?? 0n,
      updateMask: mask.join(','),
    });
    return { before, site: answer.site };
  }, isRevisionGiven(flags));
}

/** Shows a site as the answer to asking for it. */
export async function showSite(
  context: CommandContext,
  site: Site | undefined,
  table: Table,
): Promise<number> {
  const { GetSiteResponseSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
  const { create } = await import('@bufbuild/protobuf');
  return showMessage(
    context,
    create(GetSiteResponseSchema, site === undefined ? {} : { site }),
    table,
  );
}
