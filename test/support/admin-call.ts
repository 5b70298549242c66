/** Calls of the management API over the administration socket of a running product. */

import { join } from 'node:path';
import { Client } from 'undici';

/** What a call came back with; status 0 where the connection broke. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Makes one call, for example `SiteService/ListSites`, of the product with this data folder. */
export async function adminCall(data: string, rpc: string, body: object): Promise<AdminAnswer> {
  const client = new Client('http://localhost', { socketPath: join(data, 'admin.sock') });
  try {
    const answer = await client.request({
      method: 'POST',
      path: `/waf.v1.${rpc}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const read = (await answer.body.json()) as Record<string, unknown>;
    return { status: answer.statusCode, body: read };
  } catch {
    return { status: 0, body: {} };
  } finally {
    await client.destroy();
  }
}
