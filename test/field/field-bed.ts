/**
 * The bed of the field cases: the corpus's origins on ports of their own, the product, and the
 * sites that the cases name. One bed serves all cases.
 */

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import { corpusRoot } from '../seclang/corpus.ts';
import { adminCall } from '../support/admin-call.ts';
import { compileAlone } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import { missingBuild, root, startProduct, type Product } from '../support/product.ts';

const fieldFolder = path.join(corpusRoot, 'corpus', 'field');
const sources = path.join(fieldFolder, '_lib');
const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
/** The interpreter that sees Debian's packages; another `python3` may stand before it. */
const systemFolder = '/usr/bin';
const http2Package = '/usr/lib/python3/dist-packages/h2';
const caseTimeoutMs = 180_000;
const originWaitMs = 120_000;

/** Why the cases cannot run; null when they can. */
export const missingField: string | null =
  missingBuild ?? (existsSync(fieldFolder) && existsSync(crs4Folder) ? null : 'skipped: no corpus');

/** Names of the cases, in order; none without the corpus. */
export function fieldCases(): string[] {
  if (missingField !== null) return [];
  const names = readdirSync(fieldFolder).sort();
  return names.filter((name) => existsSync(path.join(fieldFolder, name, 'run.sh')));
}

/** Why this case cannot run here, as a text to print; null when it can. */
export function missingTool(name: string): string | null {
  const script = readFileSync(path.join(fieldFolder, name, 'run.sh'), 'utf8');
  const needed = script.includes('from h2t import') && !existsSync(http2Package);
  return needed ? `skipped: no python3-h2 (${name})` : null;
}

/** The running bed. */
export interface FieldBed {
  /** Resolves with what `run.sh` of the case printed: `PASS`, or `FAIL` and what was seen. */
  run(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the origins and the product and makes the sites. Errors: a step that failed. */
export async function startFieldBed(): Promise<FieldBed> {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-field-'));
  const origins: ChildProcess[] = [];
  let product: Product | undefined;
  const stop = async (): Promise<void> => {
    await product?.stop();
    for (const origin of origins) origin.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const ports = await startOrigins(folder, origins);
    product = await startProduct('--no-demo', '--workers', '1');
    await makeSites(product, ports, folder);
    return { run: (name) => runCase(product as Product, name), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Ports {
  readonly echo: number;
  readonly php: number;
  readonly raw: number;
  /** Nobody listens here. */
  readonly dead: number;
}

async function startOrigins(cwd: string, started: ChildProcess[]): Promise<Ports> {
  const [echo, php, raw, dead] = [
    ...[await freePort(), await freePort(), await freePort(), await freePort()],
  ] as [number, number, number, number];
  const start = (command: string, ...args: string[]): void => {
    started.push(spawn(command, args, { cwd, stdio: 'ignore' }));
  };
  start(process.execPath, '-e', withPort('origin.js', '29080+1', echo));
  start('php', '-S', `127.0.0.1:${php}`, path.join(sources, 'index.php'));
  start(path.join(systemFolder, 'python3'), '-c', withPort('raworigin.py', '29083', raw));
  await Promise.all([echo, php, raw].map(listens));
  return { echo, php, raw, dead };
}

/** The text of an origin, listening elsewhere: two runs may share a machine. */
function withPort(name: string, written: string, port: number): string {
  const text = readFileSync(path.join(sources, name), 'utf8');
  const at = text.lastIndexOf(written);
  if (at < 0) throw new Error(`${name} no longer listens on ${written}`);
  return text.slice(0, at) + String(port) + text.slice(at + written.length);
}

async function listens(port: number): Promise<void> {
  const deadline = performance.now() + originWaitMs;
  while (!(await answers(port))) {
    if (performance.now() > deadline) throw new Error(`no origin listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

async function makeSites(product: Product, ports: Ports, folder: string): Promise<void> {
  const ask = async (rpc: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await adminCall(product.data, rpc, body);
    if (answer.status !== 200) throw new Error(`${rpc}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const archive = packFolder(crs4Folder).toString('base64');
  const { ruleset } = await ask('SystemService/ImportCrsRuleset', { archive });
  const made = await ask('PolicyService/CreatePolicyFromTemplate', {
    templateId: 'template-light',
    name: 'field light',
  });
  const { id: policyId, revision } = made['policy'] as { id: string; revision: string };
  const crsRulesetId = (ruleset as { id: string }).id;
  await ask('PolicyService/SetActiveCrsRuleset', { policyId, revision, crsRulesetId });
  const rules = path.join(folder, 'rules');
  mkdirSync(rules);
  const configuration = path.join(fieldFolder, '_rules', 'modsecurity.conf');
  cpSync(configuration, path.join(rules, 'modsecurity.conf'));
  const imported = ['--name', 'field rules', '--ruleset', 'crs-default'];
  await product.wafBeside('policy', 'import', rules, ...imported);
  const site = (host: string, policy: string, ...to: number[]): Promise<string> => {
    const upstreams = to.flatMap((port) => ['--upstream', `http://127.0.0.1:${port}`]);
    const names = ['--name', host, '--host', host, '--policy', policy];
    return product.wafBeside('site', 'create', ...names, ...upstreams);
  };
  await compileAlone('template-light CRS 4.28.0', () => site('crs.test', policyId, ports.echo));
  await site('two.test', policyId, ports.dead, ports.echo);
  await site('php.test', policyId, ports.php);
  await site('raw.test', policyId, ports.raw);
  await site('a.wild.test', policyId, ports.echo);
  await site('b.wild.test', policyId, ports.echo);
  await compileAlone('field rules', () => site('rules.test', 'field rules', ports.echo));
  const challenge = ['--mode', 'browser', '--difficulty', '12', '--exempt-path', '/feed'];
  await product.wafBeside('bot', 'set', 'a.wild.test', ...challenge);
}

function runCase(product: Product, name: string): Promise<string> {
  const commandLine = path.join(root, '.build', 'control', 'cli', 'main.js');
  const env = {
    ...process.env,
    PATH: `${systemFolder}:${process.env['PATH'] ?? ''}`,
    PYTHONDONTWRITEBYTECODE: '1',
    WAF: `${process.execPath} ${commandLine} --data ${product.data}`,
  };
  const args = [path.join(fieldFolder, name, 'run.sh'), `127.0.0.1:${product.proxyPort}`];
  return new Promise((resolve) => {
    execFile('sh', args, { env, timeout: caseTimeoutMs }, (error, stdout, stderr) => {
      const said = `${stdout}${stderr}`.trim();
      resolve(said === 'PASS' && error !== null ? `FAIL exit ${String(error.code)}` : said);
    });
  });
}
