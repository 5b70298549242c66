/** Flags that the commands which show events share, and what they mean in a query. */

import { AppError } from '../../../base/errors.ts';
import type { TimeRange } from '../../../proto/gen/waf/v1/common_pb.ts';
import { textFlag, type FlagDefinition, type FlagValues } from '../command.ts';
import type { Output } from '../output.ts';
import { readCount } from '../paging.ts';

/** Flags of every list of events. */
export const eventFlags: readonly FlagDefinition[] = [
  { flags: '--request-id <id>', summary: 'only this request' },
  { flags: '--site <site>', summary: 'only this site', resource: 'site' },
  { flags: '--since <minutes>', summary: 'only the last minutes' },
  { flags: '--limit <n>', summary: 'events shown', default: '50' },
  { flags: '--cursor <cursor>', summary: 'the page after the one that named this cursor' },
];

/** What the shared flags say in a query. Errors: AppError bad_flag names the flag. */
export async function eventQuery(flags: FlagValues) {
  return {
    page: {
      pageSize: readCount(flags, 'limit', '--limit'),
      cursor: textFlag(flags, 'cursor') ?? '',
    },
    ...(await readTimeRange(textFlag(flags, 'since'))),
    uniqueId: textFlag(flags, 'requestId') ?? '',
    siteId: textFlag(flags, 'site') ?? '',
  };
}

/** The last minutes as a span. Errors: AppError bad_flag. */
export async function readTimeRange(
  minutes: string | undefined,
): Promise<{ timeRange?: Pick<TimeRange, 'start'> }> {
  if (minutes === undefined) return {};
  const count = Number(minutes);
  if (!(count > 0)) throw new AppError('bad_flag', '--since wants minutes', { source: 'config' });
  const { timestampFromMs } = await import('@bufbuild/protobuf/wkt');
  return { timeRange: { start: timestampFromMs(Date.now() - count * 60_000) } };
}

/** A time as tables show it. */
export async function timeText(time: TimeRange['start']): Promise<string> {
  const { timestampDate } = await import('@bufbuild/protobuf/wkt');
  return time === undefined ? '' : timestampDate(time).toISOString();
}

/** Says that there is more, and how to see it. */
export function noteMore(
  output: Output,
  shown: number,
  page: { readonly hasMore: boolean; readonly nextCursor: string } | undefined,
): void {
  if (page?.hasMore !== true) return;
  output.note(`Showing ${shown}. Next page: --cursor ${page.nextCursor}`);
}
