/**
 * What an enrolled node knows of itself and of its controller, and the file that keeps it. The
 * command line writes it once, the engine reads it and renews the certificate in it.
 */

import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from './errors.ts';
import { nodeIdentityLimits } from './delivery-limits.ts';

/** The name by which nodes ask a controller for the certificate of its authority of nodes. */
export const controllerServerName = 'controller.waf.internal';

/** What a node proves itself with, and whom it believes. */
export interface NodeIdentity {
  /** Base URL of the controller's management API. */
  readonly controllerUrl: string;
  readonly agentId: string;
  readonly name: string;
  readonly streamToken: string;
  /** PEM. */
  readonly certificate: string;
  /** PKCS #8 PEM. */
  readonly key: string;
  /** Authorities that vouch for the controller, PEM. */
  readonly authorities: string;
  /** The only key whose bundles and grants count; 32 raw bytes in base64. */
  readonly signingKey: string;
}

const fields: readonly (keyof NodeIdentity)[] = [
  'controllerUrl',
  'agentId',
  'name',
  'streamToken',
  'certificate',
  'key',
  'authorities',
  'signingKey',
];

/** Where a node's identity lies below its data folder. */
export function identityFile(dataFolder: string): string {
  return join(dataFolder, 'node', 'identity.json');
}

/** What a new key of a node signs to prove that the node holds it. */
export function renewalText(agentId: string): Uint8Array {
  return Buffer.from(`waf node renewal\n${agentId}\n`);
}

/** What a node signs at enrollment, with the key that it is to be known by. */
export function enrollmentText(fingerprint: string, enrollmentToken: string): Uint8Array {
  return Buffer.from(`waf node enrollment\n${fingerprint}\n${enrollmentToken}\n`);
}

/** Reads an identity. Errors: AppError identity_unreadable that names the file. */
export function readNodeIdentity(path: string): NodeIdentity {
  let value: unknown;
  try {
    if (statSync(path).size > nodeIdentityLimits.fileBytesMax) throw new Error('too large');
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const message = `${path} cannot be read: enroll this node with waf agent enroll`;
    throw new AppError('identity_unreadable', message, { source: 'config', cause });
  }
  const record = (value ?? {}) as Readonly<Record<string, unknown>>;
  const missing = fields.find((name) => typeof record[name] !== 'string' || record[name] === '');
  if (missing === undefined) return value as NodeIdentity;
  const message = `${path} lacks ${missing}: enroll this node again with waf agent enroll`;
  throw new AppError('identity_unreadable', message, { source: 'config' });
}

/** Writes an identity, whole or not at all, for its owner alone. Errors: those of the disk. */
export function writeNodeIdentity(path: string, identity: NodeIdentity): void {
  const folder = join(path, '..');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const scratch = `${path}.${process.pid}.new`;
  const file = openSync(scratch, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(identity, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(scratch, path);
  const parent = openSync(folder, 'r');
  try {
    fsyncSync(parent);
  } finally {
    closeSync(parent);
  }
}
