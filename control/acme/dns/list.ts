/** The drivers of DNS providers; the names are those of `dnsProviderDrivers`. */

import { aliyun } from './aliyun.ts';
import { cloudflare } from './cloudflare.ts';
import type { MakeDriver } from './driver.ts';
import { rfc2136 } from './rfc2136.ts';
import { route53 } from './route53.ts';

/** Every driver by its name. */
export const dnsDrivers: Readonly<Record<string, MakeDriver>> = {
  aliyun,
  cloudflare,
  rfc2136,
  route53,
};
