/**
 * Tables of sentences whose rows also wait for a node: `connect` connects one, `node` waits until
 * it has the checks of an intent, `json` reads a JSON document that an earlier row kept.
 */

import { expect } from 'vitest';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import type { ApiChecks } from '../../engine/contract/api-checks.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import { eventually } from './eventually.ts';
import { expectRow, expectValue, RuleTable, type RuleRow } from './rule-table.ts';
import type { TestControl } from './test-control.ts';
import { connectTakingLink } from './test-link.ts';

/** The rows of one table, run in order against one control. */
export class ApiRows {
  readonly table = new RuleTable();
  private readonly waf: TestControl;
  private readonly applied: VerifiedBundle[] = [];
  private link: ControllerLink | null = null;

  constructor(waf: TestControl) {
    this.waf = waf;
  }

  /** Ends the node and control. */
  async close(): Promise<void> {
    await this.link?.close();
    await this.waf.control.close();
  }

  /** Runs a row and holds what comes of it against the row. */
  async run(row: RuleRow): Promise<void> {
    const { table, waf } = this;
    if (row.rpc === 'connect') this.link = await connectTakingLink(waf.socket, this.applied);
    else if (row.rpc === 'node') await this.awaitNode(table.resolve(row.has) as ApiChecks);
    else if (row.rpc === 'json') {
      const { from } = row.body as { readonly from: string };
      const text = Buffer.from(String(table.known.get(from)), 'base64').toString('utf8');
      return expectValue(table, JSON.parse(text), row);
    } else return expectRow(table, waf, row);
    table.ran++;
  }

  private async awaitNode(wanted: ApiChecks): Promise<void> {
    await eventually(() => Promise.resolve(this.served()?.intentId === wanted.intentId));
    expectChecks(this.served(), wanted);
    // The receipt is on its way.
    await eventually(async () => {
      const { body } = await this.waf.call('AgentService/ListConfigBundles', {
        page: { page: 1, pageSize: 1 },
      });
      return (body['items'] as { applyResult: string }[])[0]?.applyResult === 'success';
    });
  }

  /** Checks that the node has now, of the site that a row kept. */
  private served(): ApiChecks | undefined {
    const last = this.applied.at(-1);
    if (last === undefined) return undefined;
    const { sites } = toRuntimeConfig(last);
    const site = sites.find(({ id }) => id === this.table.known.get('site'));
    if (site?.api === undefined || site.apiCode === undefined) return undefined;
    return { ...site.api, code: Buffer.from(site.apiCode).toString('utf8') };
  }
}

function expectChecks(served: ApiChecks | undefined, wanted: ApiChecks): void {
  expect(served).toMatchObject(wanted);
}
