/** The records that fill the lists of the pictures: one or two of each kind, by the API. */

import type { Page } from 'puppeteer-core';

const inList = { addressSource: 'client_ip', matchMode: 'in_list' };

type Answer = Readonly<Record<string, unknown>>;

/** Makes the records in a page that is open at the console. Errors: any answer but 200. */
export async function makeRecords(page: Page, password: string): Promise<void> {
  const login = await ask(page, '', 'waf.v1.AuthService/Login', { username: 'admin', password });
  const call = (method: string, body: object): Promise<Answer> =>
    ask(page, String(login['accessToken']), method, body);
  const { items } = await call('waf.v1.SiteService/ListSites', {});
  for (const { id } of items as { id: string }[]) await siteRecords(call, id);
  const { items: policies } = await call('waf.v1.PolicyService/ListPolicies', {});
  const [policy] = policies as { id: string }[];
  const entries = [{ value: '192.0.2.0/24', note: 'scans every night' }, { value: '2001:db8::17' }];
  const ipList = { name: 'Scanners', entries };
  const made = await call('waf.v1.IpListService/CreateIpList', { ipList });
  await call('waf.v1.IpListService/UpsertGlobalIpListBinding', {
    binding: { ipListId: (made['ipList'] as { id: string }).id, kind: 'deny', ...inList },
  });
  await call('waf.v1.RuleOverrideService/UpsertRuleOverride', {
    override: {
      ...{ policyId: policy!.id, crsRuleId: '942100', actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY' },
      rationale: 'searches hold quotes',
    },
  });
  const channel = { name: 'Duty', enabled: true, kind: 'ALERT_CHANNEL_KIND_WEBHOOK' };
  await call('waf.v1.AlertService/UpsertAlertChannel', {
    channel: { ...channel, config: { url: 'https://hooks.example.com/duty' } },
  });
  const [from, to] = [Date.now(), Date.now() + 14_400_000];
  await call('waf.v1.AlertService/CreateAlertSilence', {
    ...{ matchers: { severity: 'info' }, reason: 'planned work' },
    ...{ startsAt: new Date(from).toISOString(), endsAt: new Date(to).toISOString() },
  });
  const user = { username: 'editor', email: 'editor@shop.example' };
  await call('waf.v1.UserService/CreateUser', { user, password: 'a password of an editor 1' });
}

async function siteRecords(
  call: (method: string, body: object) => Promise<Answer>,
  siteId: string,
): Promise<void> {
  await call('waf.v1.RateLimitService/UpsertRateLimitEndpoint', {
    endpoint: {
      ...{ siteId, pathPattern: '/login', methodMode: 'any', action: 'block' },
      ...{ requestCount: 50, windowSeconds: 60, mitigationSeconds: 30 },
      enforcementMode: 'enforce',
    },
  });
  const { site } = await call('waf.v1.SiteService/GetSite', { id: siteId });
  const delivery = {
    redirects: [{ path: '/old/*', target: '/products', status: 308 }],
    bodyLimits: [{ pathPrefix: '/upload', maxBytes: 1_048_576 }],
  };
  const { revision } = site as { revision: string };
  const request = { site: { id: siteId, delivery }, revision, updateMask: 'delivery' };
  await call('waf.v1.SiteService/UpdateSite', request);
}

async function ask(page: Page, token: string, method: string, body: object): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  };
  const request = JSON.stringify({ method: 'POST', headers, body: JSON.stringify(body) });
  const ended = `fetch('/${method}', ${request}).then(async (answer) => ({
    status: answer.status, text: await answer.text(),
  }))`;
  const { status, text } = (await page.evaluate(ended)) as { status: number; text: string };
  if (status !== 200) throw new Error(`${method}: ${status} ${text}`);
  return JSON.parse(text) as Answer;
}
