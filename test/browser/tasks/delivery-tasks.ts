/** Tasks on the delivery of a site: closed, redirects, users, body limits, CORS, fields, text. */

import { request, type IncomingHttpHeaders } from 'node:http';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Desk } from './desk.ts';
import type { Task, World } from './task.ts';

const saved = 'Saved. The proxy takes it over now.';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a visitor of a host gets. */
function visit(world: World, host: string, path: string, asked: Asked = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body = '' } = asked;
  const { proxyPort: port } = world.product;
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const all = { host, ...length, ...headers };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers: all, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      });
    })
      .on('error', reject)
      .end(body);
  });
}

/** Opens the delivery of a new site; its id. */
async function delivered(desk: Desk, world: World, name: string): Promise<string> {
  const id = await world.site(name);
  await desk.go(`/sites/${id}?tab=delivery`);
  return id;
}

const basic = (name: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

/** The table. */
export const deliveryTasks: readonly Task[] = [
  {
    id: 'delivery-closed',
    page: 'Sites',
    does: 'closes a site for work on it, and opens it again',
    expects: 'visitors get 503 with the text, an allowed path is served',
    run: async (desk, world) => {
      await delivered(desk, world, 'closed');
      const form = 'Close the site for work';
      await desk.tick('The site is closed', form);
      await desk.fill('Retry after seconds, 0 for none', '600', form);
      await desk.fill('Title of the page', 'Back at noon', form);
      await desk.fill('Paths that are served, one a line', '/status', form);
      await desk.press('Save', form);
      await desk.shows(saved);
      await eventually(async () => (await visit(world, 'closed.example', '/')).status === 503);
      const answer = await visit(world, 'closed.example', '/', {
        headers: { accept: 'text/html' },
      });
      expect(answer.headers['retry-after']).toBe('600');
      expect(answer.text).toContain('Back at noon');
      expect((await visit(world, 'closed.example', '/status')).status).toBe(200);
      await desk.tick('The site is closed', form);
      await desk.press('Save', form);
      await eventually(async () => (await visit(world, 'closed.example', '/')).status === 200);
    },
  },
  {
    id: 'delivery-redirects',
    page: 'Sites',
    does: 'adds two redirects, puts the second first, edits it and deletes it',
    expects: 'the first that fits answers at each step',
    run: async (desk, world) => {
      await delivered(desk, world, 'moves');
      const target = async (path: string): Promise<string> => {
        const { status, headers } = await visit(world, 'moves.example', path);
        return `${status} ${headers.location ?? ''}`;
      };
      const add = async (from: string, to: string): Promise<void> => {
        await desk.fill('Path', from, 'Add a redirect');
        await desk.fill('Target', to, 'Add a redirect');
        await desk.press('Add', 'Add a redirect');
        await desk.shows(to);
      };
      await desk.press('Add a redirect');
      await add('/docs/*', '/help/*');
      await eventually(async () => (await target('/docs/a')) === '308 /help/a');
      await add('/docs/new', '/news');
      await desk.press('Move up', '/news');
      await eventually(async () => (await target('/docs/new')) === '308 /news');
      // Rows change places once the list was read again.
      const rows = (): Promise<(string | null)[]> =>
        desk.page.$$eval('main tr', (found) => found.map((row) => row.textContent));
      const rowOf = async (text: string): Promise<number> =>
        (await rows()).findIndex((row) => row?.includes(text));
      await eventually(async () => (await rowOf('/news')) < (await rowOf('/help/*')));
      await desk.press('Edit', '/news');
      await desk.choose('Status', '302: for now', 'Edit: Redirects');
      await desk.press('Save', 'Edit: Redirects');
      await eventually(async () => (await target('/docs/new')) === '302 /news');
      // An entry that is not the one shown any more is not deleted.
      const statuses = (): Promise<(string | null)[]> =>
        desk.page.$$eval('main td', (cells) => cells.map((cell) => cell.textContent));
      await eventually(async () => (await statuses()).includes('302'));
      await desk.press('Delete', '/news');
      await desk.press('Delete', '/news');
      await eventually(async () => (await target('/docs/new')) === '308 /help/new');
    },
  },
  {
    id: 'delivery-users',
    page: 'Sites',
    does: 'asks for a password under a path, adds a user and takes the first out',
    expects: 'each may enter while listed, and no password is shown or sent',
    run: async (desk, world) => {
      const id = await delivered(desk, world, 'staffed');
      const enters = async (name: string, password: string): Promise<number> => {
        const headers = basic(name, password);
        return (await visit(world, 'staffed.example', '/staff', { headers })).status;
      };
      const add = 'Ask for a password';
      await desk.press(add);
      await desk.fill('Path prefix', '/staff', add);
      await desk.fill('User to add, or to give another password', 'ann', add);
      await desk.fill('Password of this user', 'secret of ann', add);
      await desk.press('Add', add);
      await desk.shows('ann');
      await eventually(async () => (await enters('ann', 'wrong')) === 401);
      expect(await enters('ann', 'secret of ann')).toBe(200);
      expect((await visit(world, 'staffed.example', '/')).status).toBe(200);
      const edit = 'Edit: Users of paths';
      await desk.press('Edit', '/staff');
      await desk.fill('User to add, or to give another password', 'bob', edit);
      await desk.fill('Password of this user', 'secret of bob', edit);
      await desk.press('Save', edit);
      await desk.shows('ann, bob');
      await eventually(async () => (await enters('bob', 'secret of bob')) === 200);
      expect(await enters('ann', 'secret of ann')).toBe(200);
      await desk.press('Edit', '/staff');
      await desk.fill('Users, one a line; who is taken out may not enter', 'bob', edit);
      await desk.press('Save', edit);
      await desk.hides('ann, bob');
      await eventually(async () => (await enters('ann', 'secret of ann')) === 401);
      expect(await enters('bob', 'secret of bob')).toBe(200);
      const site = await world.siteAt(id);
      expect(JSON.stringify(site['delivery'])).not.toContain('scrypt');
      expect(site).toMatchObject({
        delivery: { basicAuth: [{ users: [{ name: 'bob', passwordHash: 'configured' }] }] },
      });
    },
  },
  {
    id: 'delivery-limit',
    page: 'Sites',
    does: 'bounds the bodies of a path',
    expects: 'a longer body gets 413 there, and passes elsewhere',
    run: async (desk, world) => {
      await delivered(desk, world, 'bounded');
      const send = async (path: string, body: string): Promise<number> => {
        const headers = { 'content-type': 'text/plain' };
        return (await visit(world, 'bounded.example', path, { method: 'POST', headers, body }))
          .status;
      };
      await desk.press('Add a body limit');
      await desk.fill('Path prefix', '/notes', 'Add a body limit');
      await desk.fill('Bytes', '10', 'Add a body limit');
      await desk.press('Add', 'Add a body limit');
      await desk.shows('/notes');
      await eventually(async () => (await send('/notes', 'eleven byte')) === 413);
      expect([await send('/notes', 'ten bytes'), await send('/other', 'eleven byte')]).toEqual([
        200, 200,
      ]);
    },
  },
  {
    id: 'delivery-fields',
    page: 'Sites',
    does: 'adds a field to answers, hardens a cookie, lets pages of another origin read answers',
    expects: 'answers have both, another origin gets nothing, the cookie has its rule',
    run: async (desk, world) => {
      const id = await delivered(desk, world, 'fielded');
      await desk.press('Change a field of answers');
      await desk.fill('Field', 'X-Frame-Options', 'Change a field of answers');
      await desk.fill('Value', 'DENY', 'Change a field of answers');
      await desk.press('Add', 'Change a field of answers');
      await desk.shows('X-Frame-Options');
      const harden = 'Harden a cookie';
      await desk.press(harden);
      await desk.fill('Cookie, empty for all others', 'id', harden);
      await desk.tick('HttpOnly: hidden from scripts', harden);
      await desk.press('Add', harden);
      // The open form says HttpOnly too: only the API knows that the rule is there.
      const cookies = [{ name: 'id', httpOnly: true }];
      await eventually(async () => JSON.stringify(await world.siteAt(id)).includes('"httpOnly"'));
      const cors = 'Let pages of other origins read';
      await desk.press(cors);
      await desk.fill('Origins, one a line, or *', 'https://app.example', cors);
      await desk.press('Add', cors);
      await desk.shows('https://app.example');
      const from = async (origin: string): Promise<unknown> => {
        const { headers } = await visit(world, 'fielded.example', '/', { headers: { origin } });
        return [headers['x-frame-options'], headers['access-control-allow-origin']];
      };
      await eventually(async () => (await from('https://app.example'))?.toString().includes('app'));
      expect(await from('https://app.example')).toEqual(['DENY', 'https://app.example']);
      expect(await from('https://other.example')).toEqual(['DENY', undefined]);
      expect(await world.siteAt(id)).toMatchObject({ delivery: { cookies } });
    },
  },
  {
    id: 'delivery-compression',
    page: 'Sites',
    does: 'compresses the answers of a site, and leaves a path out',
    expects: 'a client that accepts gzip gets it, but not under that path',
    run: async (desk, world) => {
      const id = await delivered(desk, world, 'packed');
      const add = 'Compress answers';
      await desk.press(add);
      await desk.fill('Media types, empty for usual text', 'text/*\napplication/json', add);
      await desk.fill('From bytes, 0 for 1,024', '1', add);
      await desk.press('Add', add);
      await desk.shows('text/*, application/json');
      const codingOf = async (path: string): Promise<string> => {
        const headers = { 'accept-encoding': 'gzip' };
        const answer = await visit(world, 'packed.example', path, { headers });
        return answer.headers['content-encoding'] ?? '';
      };
      await eventually(async () => (await codingOf('/')) === 'gzip');
      await desk.fill('Path prefix', '/account', add);
      await desk.tick('Not here, although a shorter prefix has a rule', add);
      await desk.fill('Media types, empty for usual text', '', add);
      await desk.press('Add', add);
      await desk.shows('/account');
      await eventually(async () => (await codingOf('/account')) === '');
      expect(await codingOf('/')).toBe('gzip');
      expect(await world.siteAt(id)).toMatchObject({
        delivery: {
          compression: [
            { pathPrefix: '/', types: ['text/*', 'application/json'], minBytes: 1 },
            { pathPrefix: '/account', off: true },
          ],
        },
      });
    },
  },
  {
    id: 'delivery-sticky',
    page: 'Sites',
    does: 'keeps visitors with one address, and ends it again',
    expects: 'visitors get a cookie of the chosen name, then none',
    run: async (desk, world) => {
      const id = await delivered(desk, world, 'staying');
      const form = 'Sticky sessions';
      const name = 'Name of the cookie, empty for waf-origin';
      await desk.tick('Visitors stay with one address', form);
      await desk.fill(name, 'a b', form);
      await desk.press('Save', form);
      await desk.shows('is no name of a cookie');
      await desk.fill(name, 'place', form);
      await desk.fill('Browsers keep it for seconds, 0 until they are closed', '600', form);
      await desk.press('Save', form);
      await desk.shows(saved);
      const cookiesOf = async (): Promise<readonly string[]> => {
        const { headers } = await visit(world, 'staying.example', '/');
        return headers['set-cookie'] ?? [];
      };
      await eventually(async () => (await cookiesOf()).length > 0);
      expect(await cookiesOf()).toEqual([
        expect.stringMatching(/^place=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/),
      ]);
      const stickySessions = { enabled: true, cookieName: 'place', maxAgeSeconds: 600 };
      expect(await world.siteAt(id)).toMatchObject({ delivery: { stickySessions } });
      await desk.tick('Visitors stay with one address', form);
      await desk.press('Save', form);
      await eventually(async () => (await cookiesOf()).length === 0);
    },
  },
  {
    id: 'delivery-text',
    page: 'Sites',
    does: 'says who reports a weakness; forgets a line first',
    expects: 'what is missing is said at the form, then the path answers with the text',
    run: async (desk, world) => {
      await delivered(desk, world, 'reports');
      const form = 'Who reports a weakness (security.txt)';
      const label = 'Text, with lines Contact: and Expires:';
      await desk.fill(label, 'Contact: mailto:security@shop.example', form);
      await desk.press('Save', form);
      await desk.shows('needs a line Expires:');
      const text = 'Contact: mailto:security@shop.example\nExpires: 2030-01-01T00:00:00Z\n';
      await desk.fill(label, text, form);
      await desk.press('Save', form);
      await desk.shows(saved);
      await eventually(async () => {
        const answer = await visit(world, 'reports.example', '/.well-known/security.txt');
        return answer.text.includes('Expires: 2030');
      });
    },
  },
];
