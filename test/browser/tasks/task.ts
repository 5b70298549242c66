/** What a task of a person at the console is, and the world that all tasks share. */

import { eventually } from '../../support/eventually.ts';
import type { Product } from '../../support/product.ts';
import { call, managementUrl, sendRaw } from '../console-driver.ts';
import type { Desk } from './desk.ts';

/** One task: who reads its row knows what a person does, and what has to come of it. */
export interface Task {
  readonly id: string;
  readonly page: string;
  readonly does: string;
  readonly expects: string;
  readonly run: (desk: Desk, world: World) => Promise<void>;
}

/** An attack that one rule finds in one argument. */
export const attackIn = (argument: string): string => `/?${argument}=1%27%20OR%20%271%27=%271`;

/** An attack that was refused. */
export interface Refused {
  readonly siteId: string;
  readonly client: string;
  /** The status that the same client gets for a path. */
  readonly get: (path: string) => Promise<number>;
  readonly eventId: string;
}

/** The running product of the tasks. */
export class World {
  readonly product: Product;
  readonly token: string;
  /** The address of an origin that answers. */
  readonly origin: string;
  /** Where sites are served over TLS. */
  readonly securePort: number;
  #clients = 1;

  constructor(of: Pick<World, 'product' | 'token' | 'origin' | 'securePort'>) {
    this.product = of.product;
    this.token = of.token;
    this.origin = of.origin;
    this.securePort = of.securePort;
  }

  /** The console's address, without a path. */
  get url(): string {
    return managementUrl(this.product);
  }

  /** One call of the API. */
  call(method: string, body: object): Promise<Record<string, unknown>> {
    return call(this.product, this.token, method, body);
  }

  /** A client that sent nothing yet. */
  client(): string {
    this.#clients += 1;
    return `127.0.0.${this.#clients}`;
  }

  /** The status that a client gets for a path. */
  get(path: string, client: string, host: string): Promise<number> {
    return sendRaw(this.product, path, { host }, client);
  }

  /** A site of this name's host; its id. */
  async site(name: string, policyId = ''): Promise<string> {
    const site = {
      name,
      primaryHost: `${name}.example`,
      upstreams: [{ inline: { url: this.origin, weight: 1 } }],
      waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId },
      status: 'RESOURCE_STATUS_ACTIVE',
    };
    const made = await this.call('SiteService/CreateSite', { site });
    return (made['site'] as { id: string }).id;
  }

  /** A site of this name, and an event of an attack on it that was refused. */
  async refused(name: string, policyId = ''): Promise<Refused> {
    const siteId = await this.site(name, policyId);
    const client = this.client();
    const get = (path: string): Promise<number> => this.get(path, client, `${name}.example`);
    await eventually(async () => (await get(attackIn('q'))) === 403);
    const eventId = await eventually(async () => {
      const timeRange = { start: new Date(Date.now() - 3_600_000), end: new Date() };
      const query = { siteId, timeRange, outcome: 'SECURITY_EVENT_OUTCOME_BLOCKED' };
      const { items } = await this.call('LogService/QuerySecurityEvents', query);
      return (items as { id: string }[] | undefined)?.[0]?.id ?? null;
    });
    return { siteId, client, get, eventId };
  }

  /** The site as the API has it. */
  async siteAt(id: string): Promise<Record<string, never>> {
    return (await this.call('SiteService/GetSite', { id }))['site'] as Record<string, never>;
  }

  /** As `policy`, of which the anomaly score decides. */
  async crsPolicy(name: string): Promise<string> {
    const id = await this.policy(name);
    const { policy } = await this.call('PolicyService/GetPolicy', { id });
    const { crsCore, revision } = policy as { crsCore: object; revision: string };
    const wanted = { id, crsCore: { ...crsCore, decision: 'DECISION_CRS' } };
    await this.call('PolicyService/UpdatePolicy', {
      ...{ policy: wanted, revision, updateMask: 'crs_core' },
    });
    return id;
  }

  /** A policy of this name, made from the first template; its id. */
  async policy(name: string): Promise<string> {
    const found = await this.call('PolicyService/ListPolicyTemplates', {});
    const templateId = (found['items'] as { id: string }[])[0]!.id;
    const request = { templateId, name };
    const made = await this.call('PolicyService/CreatePolicyFromTemplate', request);
    return (made['policy'] as { id: string }).id;
  }

  /** Has rule 942100 of a policy not look at one argument; `more` narrows or explains it. */
  async exclude(policyId: string, target: string, more: object = {}): Promise<void> {
    const override = { policyId, crsRuleId: '942100', removedTargets: [target], ...more };
    await this.call('RuleOverrideService/UpsertRuleOverride', {
      override: { ...override, actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT' },
    });
  }

  /** The ids of the certificates of this name. */
  async certificates(name: string): Promise<string[]> {
    const { items } = await this.call('CertService/ListCerts', { page: { pageSize: 100 } });
    const all = (items ?? []) as { id: string; name: string }[];
    return all.filter((one) => one.name === name).map(({ id }) => id);
  }

  /** An address list; its id. */
  async ipList(name: string, ...values: string[]): Promise<string> {
    const ipList = { name, entries: values.map((value) => ({ value })) };
    const made = await this.call('IpListService/CreateIpList', { ipList });
    return (made['ipList'] as { id: string }).id;
  }
}
