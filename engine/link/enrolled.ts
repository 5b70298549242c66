/**
 * What an enrolled node has that the built-in one has not: its identity, mutual TLS towards its
 * controller, serving grants, and a certificate that it renews before it ends.
 */

import { createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { NodeService } from '../../proto/gen/waf/runtime/v1/nodes_pb.ts';
import type { Clock } from '../../base/clock.ts';
import { nodeIdentityLimits } from '../../base/delivery-limits.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import {
  controllerServerName,
  readNodeIdentity,
  renewalText,
  writeNodeIdentity,
  type NodeIdentity,
} from '../../base/node-identity.ts';
import { ServingGrants } from './serving-grants.ts';

/** An enrolled node towards its controller. */
export interface Enrolled {
  readonly agentId: string;
  /** The only key whose bundles and grants count; 32 raw bytes. */
  readonly signingKey: Uint8Array;
  readonly grants: ServingGrants;
  /** As it is now: certificates are renewed. */
  identity(): NodeIdentity;
  /** A connection of its own. */
  transport(): Transport;
  /** Looks now and then whether the certificate is due; returns the undo. */
  keepRenewing(): () => void;
}

/** What an enrolled node is made of. */
export interface EnrolledOptions {
  /** The identity file. */
  readonly path: string;
  /** Where the grant of the kept bundle lies. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reads the identity. Errors: AppError identity_unreadable. */
export function openEnrolled(options: EnrolledOptions): Enrolled {
  return new EnrolledNode(options);
}

class EnrolledNode implements Enrolled {
  readonly signingKey: Uint8Array;
  readonly grants: ServingGrants;
  readonly #options: EnrolledOptions;
  #identity: NodeIdentity;

  constructor(options: EnrolledOptions) {
    this.#options = options;
    this.#identity = readNodeIdentity(options.path);
    this.signingKey = Buffer.from(this.#identity.signingKey, 'base64');
    this.grants = new ServingGrants(this.agentId, this.signingKey, options.folder);
  }

  get agentId(): string {
    return this.#identity.agentId;
  }

  identity(): NodeIdentity {
    return this.#identity;
  }

  transport(): Transport {
    const { controllerUrl, certificate, key, authorities } = this.#identity;
    return createConnectTransport({
      baseUrl: controllerUrl,
      httpVersion: '2',
      nodeOptions: {
        cert: certificate,
        key,
        // Nobody else vouches for the controller, whatever its management certificate is.
        ca: authorities,
        servername: controllerServerName,
        minVersion: 'TLSv1.3',
      },
    });
  }

  keepRenewing(): () => void {
    const look = (): void => {
      this.#renewWhenDue().catch((error: unknown) => {
        const reason = toAppError(error).message;
        this.#options.logger.warn('the certificate of this node could not be renewed', { reason });
      });
    };
    look();
    const timer = setInterval(look, nodeIdentityLimits.renewalCheckMs).unref();
    return () => clearInterval(timer);
  }

  async #renewWhenDue(): Promise<void> {
    const { clock, logger, path } = this.#options;
    if (!isDue(this.#identity.certificate, clock.nowMs())) return;
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { agentId, streamToken } = this.#identity;
    const client = createClient(NodeService, this.transport());
    const { workloadCertPem, caCertPem } = await client.renewIdentity({
      agentId,
      streamToken,
      publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      proof: sign('sha256', renewalText(agentId), privateKey),
    });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const certificate = Buffer.from(workloadCertPem).toString('utf8');
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
      throw new Error('the controller certified another key');
    }
    const authorities = Buffer.from(caCertPem).toString('utf8');
    const renewed = { ...this.#identity, certificate, key, authorities };
    writeNodeIdentity(path, renewed);
    this.#identity = renewed;
    logger.info('the certificate of this node was renewed');
  }
}

/** Whether two thirds of a certificate's lifetime are over. */
export function isDue(pem: string, nowMs: number): boolean {
  const { validFrom, validTo } = new X509Certificate(pem);
  const [startMs, endMs] = [Date.parse(validFrom), Date.parse(validTo)];
  return nowMs >= startMs + (endMs - startMs) * nodeIdentityLimits.renewAfterShare;
}
