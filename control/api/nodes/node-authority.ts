/**
 * The deployment's own authority of nodes: kept in the store, so that it is part of a backup and a
 * restored controller keeps its nodes. It signs what nodes prove themselves with, and what the
 * controller shows them. Its keys never leave the store.
 */

import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { toAppError } from '../../../base/errors.ts';
import { controllerServerName } from '../../../base/node-identity.ts';
import type { NodeAuthorityRecord } from '../../domain/release/enrollment.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { nodeLimits } from '../../limits/node-limits.ts';
import { nodeAuthorities } from '../../store/collections.ts';
import type { Store } from '../../store/store.ts';
import {
  certifyNodeKey,
  makeAuthority,
  makeNodeCertificate,
  makeServerCertificate,
  type CertificatePem,
} from '../listener/own-certificate.ts';

const dayMs = 24 * 3_600_000;
const serverRenewMs = 30 * dayMs;

/** The authority of nodes. */
export interface NodeAuthority {
  /** Authorities that vouch for nodes and for the controller towards nodes, PEM. */
  trustedPem(): string;
  /** What a listener shows to clients that ask for `controllerServerName`. */
  serverContext(): SecureContext;
  /** A key and a certificate for a node. */
  issue(nodeId: string): Promise<CertificatePem>;
  /** A certificate for a key of the node's own. Errors: what is wrong with the key. */
  certify(nodeId: string, publicKey: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Calls back when what is trusted or shown changed. */
  onReplaced(listener: () => void): void;
  close(): void;
}

/** Opens the authority; makes it on the first start, and anew long before it ends. */
export async function openNodeAuthority(
  store: Store,
  clock: Clock,
  logger: Logger,
): Promise<NodeAuthority> {
  const authority = new KeptAuthority(store, clock);
  await authority.refresh();
  const timer = setInterval(() => {
    authority.refresh().catch((error: unknown) => {
      const reason = toAppError(error).message;
      logger.error('the authority of nodes could not be renewed', { reason });
    });
  }, callLimits.certificateCheckMs);
  timer.unref();
  authority.closing = () => clearInterval(timer);
  return authority;
}

class KeptAuthority implements NodeAuthority {
  closing: () => void = () => undefined;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #listeners: (() => void)[] = [];
  #trusted: NodeAuthorityRecord[] = [];
  #server: { readonly pem: CertificatePem; readonly context: SecureContext } | null = null;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async refresh(): Promise<void> {
    const now = this.#clock.nowMs();
    const before = this.trustedPem();
    const known = this.#read(now);
    const newest = known[0];
    const due = newest === undefined || endOf(newest.certificatePem) - now < renewMs;
    this.#trusted = due ? [await this.#make(now), ...known] : known;
    const server = this.#server;
    const stale = server === null || endOf(server.pem.certificate) - now < serverRenewMs;
    if (!stale && before === this.trustedPem()) return;
    const pem = await makeServerCertificate(this.#signer(), [controllerServerName], now);
    const ca = this.trustedPem();
    const context = createSecureContext({
      cert: pem.certificate,
      key: pem.key,
      ca,
      minVersion: 'TLSv1.3',
    });
    this.#server = { pem, context };
    for (const listener of this.#listeners) listener();
  }

  trustedPem(): string {
    return this.#trusted.map(({ certificatePem }) => certificatePem).join('');
  }

  serverContext(): SecureContext {
    if (this.#server === null) throw new Error('the authority is not open');
    return this.#server.context;
  }

  issue(nodeId: string): Promise<CertificatePem> {
    const now = this.#clock.nowMs();
    return makeNodeCertificate(this.#signer(), nodeId, now, now + lifetimeMs);
  }

  certify(nodeId: string, publicKey: Uint8Array<ArrayBuffer>): Promise<string> {
    const now = this.#clock.nowMs();
    return certifyNodeKey(this.#signer(), nodeId, publicKey, now, now + lifetimeMs);
  }

  onReplaced(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.closing();
  }

  /** Those that have not ended, the newest first. */
  #read(nowMs: number): NodeAuthorityRecord[] {
    return this.#store
      .list(nodeAuthorities)
      .filter(({ certificatePem }) => endOf(certificatePem) > nowMs)
      .sort((left, right) => right.createdAt.localeCompare(left.createdAt))
      .slice(0, nodeLimits.authoritiesMax);
  }

  async #make(nowMs: number): Promise<NodeAuthorityRecord> {
    const { certificate, key } = await makeAuthority(nowMs, 'node');
    const record: NodeAuthorityRecord = {
      id: `authority-${randomUUID()}`,
      certificatePem: certificate,
      keyPem: key,
      createdAt: new Date(nowMs).toISOString(),
    };
    await this.#store.write((tx) => tx.put(nodeAuthorities, record));
    return record;
  }

  #signer(): CertificatePem {
    const newest = this.#trusted[0];
    if (newest === undefined) throw new Error('the authority is not open');
    return { certificate: newest.certificatePem, key: newest.keyPem };
  }
}

const lifetimeMs = nodeLimits.certificateDays * dayMs;
const renewMs = nodeLimits.authorityRenewDays * dayMs;

function endOf(certificatePem: string): number {
  return Date.parse(new X509Certificate(certificatePem).validTo);
}
