/**
 * `waf agent enroll`: turns an enrollment token into this machine's identity. Before the controller
 * has proved itself nothing secret is sent: its authority is fetched and compared with the hash in
 * the command, or publicly trusted.
 */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { readBuildInfo } from '../../../base/build-info.ts';
import { AppError } from '../../../base/errors.ts';
import { makeFolder } from '../../../base/make-folder.ts';
import {
  enrollmentText,
  identityFile,
  readNodeIdentity,
  writeNodeIdentity,
} from '../../../base/node-identity.ts';
import { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { writeReleaseKeys } from './agent-release-keys.ts';
import { commandLineLimits } from '../../limits/command-limits.ts';
import { explainCallError, readBaseUrl } from '../api-client.ts';
import { listFlag, switchFlag, textFlag, type CommandDefinition } from '../command.ts';
import type { GlobalOptions } from '../global-options.ts';
import { readInputText } from '../input.ts';

/** The command. */
export const agentEnrollCommand: CommandDefinition = {
  path: ['agent', 'enroll'],
  summary: 'Enroll this machine as a node of a controller',
  help: 'waf agent install on the controller prints the whole command. Writes node/identity.json below the data folder.',
  flags: [
    {
      flags: '--controller <url>',
      summary: 'management URL of the controller, https://HOST:PORT',
      required: true,
    },
    {
      flags: '--ca-sha256 <hex>',
      summary: 'SHA-256 of the authority of the controller; default: publicly trusted ones',
    },
    {
      flags: '--release-key <key>',
      summary: 'public key whose releases this node takes; see waf release key',
      repeatable: true,
    },
    {
      flags: '--token-file <file>',
      summary: 'file with the enrollment token; - for standard input; or set WAF_TOKEN',
    },
    { flags: '--again', summary: 'enroll even if this machine has an identity' },
  ],
  run: async ({ options, output }, _args, flags) => {
    const controllerUrl = readBaseUrl(textFlag(flags, 'controller') ?? '');
    if (!controllerUrl.startsWith('https://')) throw bad('--controller must begin with https://');
    const token = readToken(textFlag(flags, 'tokenFile'), options);
    const path = identityFile(options.data);
    if (existsSync(path) && !switchFlag(flags, 'again')) {
      throw bad(`${path} exists: this machine is enrolled; --again enrolls it anew`);
    }
    makeFolder(options.data);
    const ca = await readAuthority(controllerUrl, textFlag(flags, 'caSha256'), options);
    const fingerprint = fingerprintOf(path);
    const key = readKey(path);
    const answer = await enroll(controllerUrl, token, ca, fingerprint, key, options);
    const { agent } = answer;
    if (agent === undefined) throw bad('the controller answered without a node');
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
    writeNodeIdentity(path, {
      controllerUrl,
      agentId: agent.id,
      name: agent.name,
      streamToken: answer.streamToken,
      certificate: text(answer.workloadCertPem),
      key: key.pem,
      authorities: text(answer.caCertPem),
      signingKey: Buffer.from(answer.bundleSigningPublicKey).toString('base64'),
    });
    rmSync(key.pendingPath, { force: true });
    const keys = listFlag(flags, 'releaseKey');
    if (keys.length > 0) writeReleaseKeys(options.data, keys);
    output.line(`Enrolled as ${agent.name} (${agent.id}). Start it: waf agent run`);
    return 0;
  },
};

/** The enrollment token; a file or the environment keep it off command lines. Errors: bad_flag. */
function readToken(file: string | undefined, { token }: GlobalOptions): string {
  if (file === undefined) {
    if (token !== undefined) return token;
    throw bad('the enrollment token is required: --token-file, WAF_TOKEN or --token');
  }
  const text = readInputText(file).trim();
  if (text !== '') return text;
  throw bad(`--token-file: ${file === '-' ? 'standard input' : file} is empty`);
}

/**
 * Random, so that nobody who knows the machine can claim to be it; kept before it is sent, so that
 * a machine that tries again counts once.
 */
function fingerprintOf(identityPath: string): string {
  const folder = dirname(identityPath);
  const path = join(folder, 'fingerprint');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(path)) {
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  }
  const text = readFileSync(path, 'utf8').trim();
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw bad(`${path} is damaged: remove it, then enroll with a new token`);
}

/** The key that a node proves. */
interface NodeKey {
  /** PKCS #8 PEM. */
  readonly pem: string;
  /** The certificate of the identity that has the key, PEM; '' for none. */
  readonly certificate: string;
  /** Where a key lies that no identity has yet. */
  readonly pendingPath: string;
}

/**
 * The key of the identity, or of an enrollment whose answer was lost, or a new one: kept before it
 * is sent, so that a machine that tries again proves itself with it. It never leaves the machine.
 */
function readKey(identityPath: string): NodeKey {
  const pendingPath = join(dirname(identityPath), 'enrollment-key.pem');
  if (existsSync(identityPath)) {
    const { key: pem, certificate } = readNodeIdentity(identityPath);
    return { pem, certificate, pendingPath };
  }
  if (!existsSync(pendingPath)) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(pendingPath, text, { mode: 0o600 });
  }
  const pem = readFileSync(pendingPath, 'utf8');
  return { pem, certificate: '', pendingPath };
}

/** The public key and the proof that this machine holds it. Errors: AppError bad_flag. */
function proofOf({ pem, pendingPath }: NodeKey, fingerprint: string, enrollmentToken: string) {
  try {
    const privateKey = createPrivateKey(pem);
    return {
      publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
      proof: sign('sha256', enrollmentText(fingerprint, enrollmentToken), privateKey),
    };
  } catch {
    throw bad(`${pendingPath} is damaged: remove it, then enroll with a new token`);
  }
}

async function enroll(
  controllerUrl: string,
  enrollmentToken: string,
  ca: string | undefined,
  fingerprint: string,
  key: NodeKey,
  options: GlobalOptions,
) {
  const transport = createConnectTransport({
    baseUrl: controllerUrl,
    httpVersion: '1.1',
    defaultTimeoutMs: commandLineLimits.callTimeoutMs,
    nodeOptions: ca === undefined ? {} : { ca },
  });
  try {
    return await createClient(AgentService, transport).enroll({
      enrollmentToken,
      fingerprint,
      ...proofOf(key, fingerprint, enrollmentToken),
      certificatePem: Buffer.from(key.certificate),
      hostname: hostname().slice(0, 255),
      os: process.platform,
      arch: process.arch,
      version: readBuildInfo().version,
    });
  } catch (error) {
    throw explainCallError(error, { ...options, api: controllerUrl });
  }
}

/** The authority to believe; undefined for public ones. Errors: AppError bad_flag. */
async function readAuthority(
  controllerUrl: string,
  sha256: string | undefined,
  { caFile }: GlobalOptions,
): Promise<string | undefined> {
  if (sha256 === undefined) return caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
  const wanted = sha256.replaceAll(':', '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(wanted)) throw bad('--ca-sha256 takes 64 hexadecimal digits');
  const pem = await fetchUnchecked(`${controllerUrl}/bootstrap/ca.pem`);
  return pinnedAuthority(pem, wanted, controllerUrl);
}

/**
 * The authority whose hash was compared, and it alone: whoever answers may add others to it.
 * Errors: AppError bad_flag.
 */
export function pinnedAuthority(pem: string, wanted: string, controllerUrl: string): string {
  let authority: X509Certificate;
  try {
    authority = new X509Certificate(pem);
  } catch {
    throw bad(`${controllerUrl} shows no authority of its own; leave --ca-sha256 out`);
  }
  const found = createHash('sha256').update(authority.raw).digest('hex');
  if (found === wanted) return authority.toString();
  throw bad(`--ca-sha256: ${controllerUrl} shows another authority (${found}); stop here`);
}

/** A public text of a server that has proved nothing yet; what came is compared by its hash. */
function fetchUnchecked(url: string): Promise<string> {
  const { bootstrapBytesMax, callTimeoutMs } = commandLineLimits;
  return new Promise((resolve, reject) => {
    const request = get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.length > bootstrapBytesMax) request.destroy(new Error('it is too long'));
      });
      response.on('end', () => resolve(text));
    });
    request.setTimeout(callTimeoutMs, () => request.destroy(new Error('no answer in time')));
    request.on('error', (cause) => {
      const message = `${url} cannot be read (${cause.message})`;
      reject(new AppError('unreachable', message, { source: 'client', cause }));
    });
  });
}

function bad(message: string): AppError {
  return new AppError('bad_flag', message, { source: 'config' });
}
