/** Times in the zone of the reader; in UTC under the pointer. */

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { ComponentChildren } from 'preact';
import { localTime, utcTime } from '../text/text.ts';

/** The time; a dash where there is none, as cells of tables have it. */
export function when(at: Timestamp | undefined): ComponentChildren {
  if (at === undefined) return localTime(at);
  const utc = utcTime(at);
  return (
    <time dateTime={utc} title={utc}>
      {localTime(at)}
    </time>
  );
}
