/** Control as tests use it: in a folder of its own, with a tiny ruleset and plain JSON calls. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../base/log.ts';
import { startControl, type Control, type ControlOptions } from '../../control/start.ts';

/** What a call came back with. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
  readonly cookie: string;
  readonly headers: IncomingHttpHeaders;
}

/** How a call goes in: over the socket, or over the network with a token or cookie. */
export interface Way {
  readonly token?: string;
  readonly cookie?: string;
  readonly network?: boolean;
  /** The page that calls: its origin, at whose host it asks. */
  readonly origin?: string;
}

/** Control while a test uses it. */
export interface TestControl {
  readonly folder: string;
  readonly socket: string;
  readonly control: Control;
  /** Password of the first administrator; '' where the store came with its users. */
  readonly password: string;
  /** One call as a plain JSON client makes it; over the socket by default. */
  call(rpc: string, body: unknown, way?: Way): Promise<Answer>;
  /** One call over the socket whose body is any text. */
  send(rpc: string, text: string): Promise<Answer>;
  /** A GET that is no RPC. */
  get(path: string, network: boolean): Promise<Answer>;
}

/**
 * Starts control for a test; `prepare` may write to the folder of its store before. `start` is
 * another build of control, such as the compiled one with its threads.
 */
export async function startTestControl(
  options: Partial<ControlOptions> = {},
  prepare: (storeFolder: string) => Promise<void> = () => Promise.resolve(),
  start: typeof startControl = startControl,
): Promise<TestControl> {
  const folder = mkdtempSync(join(tmpdir(), 'waf-control-'));
  await prepare(join(folder, 'control'));
  const rulesetFolder = join(folder, 'crs');
  mkdirSync(join(rulesetFolder, 'rules'), { recursive: true });
  const rule = `SecRule ARGS "@contains evil" "id:942999,phase:2,deny,ver:'OWASP_CRS/4.9.1'"\n`;
  writeFileSync(join(rulesetFolder, 'rules', 'REQUEST-942.conf'), rule);
  const socket = join(folder, 'admin.sock');
  const control = await start({
    dataFolder: folder,
    management: { host: '127.0.0.1', port: 0 },
    managementTls: 'off',
    adminSocket: socket,
    engineSocket: join(folder, 'engine.sock'),
    demoOrigin: 'http://127.0.0.1:1',
    rulesetFolder,
    logger: silentLogger,
    ...options,
  });
  const send = (method: string, path: string, way: Way, body: string): Promise<Answer> => {
    const { origin } = way;
    const network = way.network === true || (way.token ?? way.cookie ?? origin) !== undefined;
    const where = network
      ? { host: '127.0.0.1', port: control.managementPort }
      : { socketPath: socket };
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (way.token !== undefined) headers['authorization'] = `Bearer ${way.token}`;
    if (way.cookie !== undefined) headers['cookie'] = way.cookie;
    if (origin !== undefined) {
      headers['origin'] = origin;
      headers['host'] = new URL(origin).host;
    }
    return sendOnce({ ...where, method, path, headers }, body);
  };
  return {
    folder,
    socket,
    control,
    password: existsSync(control.passwordFile)
      ? readFileSync(control.passwordFile, 'utf8').trim()
      : '',
    call: (rpc, body, way = {}) => send('POST', pathOf(rpc), way, JSON.stringify(body)),
    send: (rpc, text) => send('POST', `/waf.v1.${rpc}`, {}, text),
    get: (path, network) => send('GET', path, { network }, ''),
  };
}

/** Services beside the contract's are named whole. */
function pathOf(rpc: string): string {
  return rpc.startsWith('waf.') ? `/${rpc}` : `/waf.v1.${rpc}`;
}

function sendOnce(options: object, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ ...options, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const isJson = (response.headers['content-type'] ?? '').includes('json');
        resolve({
          status: response.statusCode ?? 0,
          body: isJson ? (JSON.parse(text || '{}') as Record<string, unknown>) : {},
          text,
          cookie: (response.headers['set-cookie'] ?? [])[0] ?? '',
          headers: response.headers,
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
