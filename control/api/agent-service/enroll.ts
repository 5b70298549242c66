/** AgentService/Enroll: a token becomes the identity of a node. */

import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import type { HandlerContext } from '@connectrpc/connect';
import type { AgentService, EnrollRequest } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { AppError } from '../../../base/errors.ts';
import { enrollmentText } from '../../../base/node-identity.ts';
import {
  admitToToken,
  freeName,
  type AgentIdentityRecord,
  type EnrollmentRecord,
  type EnrollmentTokenRecord,
} from '../../domain/release/enrollment.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';
import { nodeLimits } from '../../limits/node-limits.ts';
import { agentIdentities, agents, enrollments, enrollmentTokens } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { addressKey, entranceKey, type ApiParts, type Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import { hashSecret, isSecret } from '../nodes/admit-node.ts';
import { nodeActor } from '../nodes/node-actor.ts';
import type { Method } from '../method.ts';
import type { CertificatePem } from '../listener/own-certificate.ts';
import { fingerprintOf, keyFingerprint, signedBy } from '../node-service/renew-identity.ts';
import { ownedBy } from '../resource/owned.ts';
import { readToken } from './enrollment-tokens.ts';
import { showAgent } from './show-node.ts';

const plainText = /^[\x20-\x7e\u00a0-\uffff]*$/;

/** A node that enrolls again keeps its id; what it proved itself with before counts no more. */
export function enroll(parts: ApiParts): Method<typeof AgentService, 'enroll'> {
  return async (request, context) => {
    refuseInTheClear(context, parts.secureCookies);
    for (const name of ['fingerprint', 'hostname', 'os', 'arch', 'version'] as const) {
      if (!plainText.test(request[name])) throw invalidField(name, 'must be plain text');
    }
    requireText(request.fingerprint, 'fingerprint');
    const token = tokenOf(parts, request.enrollmentToken);
    // Before anything is made for it; decided again where it is kept.
    admit(parts.store, token, request.fingerprint, parts.clock.nowMs());
    const [known] = parts.store
      .find(agents, 'fingerprint', request.fingerprint)
      .filter(({ tenantId }) => tenantId === token.tenantId);
    requireProof(request);
    const before = known === undefined ? undefined : parts.store.get(agentIdentities, known.id);
    if (known !== undefined) requireIdentity(request, before);
    const id = known?.id ?? `agent-${randomUUID()}`;
    const workload = await workloadOf(parts, id, request.publicKey);
    const streamToken = randomBytes(32).toString('base64url');
    const agent = await parts.store.write((tx) => {
      const enrollment = admit(tx, token, request.fingerprint, parts.clock.nowMs());
      const present = tx.get(agentIdentities, id);
      if (present?.streamTokenSha256 !== before?.streamTokenSha256) throw enrollsTwice();
      const stored = agentOf(tx, token, request, id, {
        ip: context.values.get(addressKey),
        now: new Date(parts.clock.nowMs()).toISOString(),
      });
      keep(tx, token, stored, enrollment ?? enrollmentOf(token, stored, request.fingerprint));
      tx.put(agentIdentities, {
        id,
        streamTokenSha256: hashSecret(streamToken),
        certificatesSha256: [fingerprintOf(workload.certificate)],
        keysSha256: [keyFingerprint(publicKeyOf(workload.certificate))],
      });
      return stored;
    });
    parts.nodes.note({ nodeId: id, kind: 'enrolled', atMs: parts.clock.nowMs(), payload: {} });
    parts.logger.info('a node was enrolled', { node: id, token: token.id });
    return {
      agent: showAgent(parts, agent),
      workloadCertPem: Buffer.from(workload.certificate),
      workloadKeyPem: Buffer.from(workload.key),
      caCertPem: Buffer.from(parts.authority.trustedPem()),
      streamToken,
      bundleSigningPublicKey: parts.publisher.publicKey,
    };
  };
}

/** A key that is sent must be one that the node holds. Errors: invalid_argument. */
function requireProof({ publicKey, proof, fingerprint, enrollmentToken }: EnrollRequest): void {
  if (publicKey.length === 0) return;
  if (signedBy(publicKey, enrollmentText(fingerprint, enrollmentToken), proof)) return;
  throw invalidField('proof', 'must be a signature by publicKey, a key on P-256');
}

/**
 * Who knows a token and a fingerprint need not be the node: it comes again with the key of the
 * identity that it has. Errors: permission_denied.
 */
function requireIdentity(
  { publicKey, certificatePem }: EnrollRequest,
  identity: AgentIdentityRecord | undefined,
): void {
  const keys = identity?.keysSha256 ?? keysOfCertificate(identity, certificatePem);
  if (publicKey.length > 0 && keys.includes(keyFingerprint(publicKey))) return;
  throw refusal(
    'permission_denied',
    'fingerprint: this node is enrolled, and its key was not proved: run waf agent enroll --again ' +
      'in its data folder, or delete the node and enroll it with a new token',
  );
}

/** Keys of a certificate that counts, for identities of earlier versions, which say none. */
function keysOfCertificate(
  identity: AgentIdentityRecord | undefined,
  certificatePem: Uint8Array,
): string[] {
  try {
    const pem = Buffer.from(certificatePem).toString('latin1');
    const counts = identity?.certificatesSha256.includes(fingerprintOf(pem)) === true;
    return counts ? [keyFingerprint(publicKeyOf(pem))] : [];
  } catch {
    return [];
  }
}

function publicKeyOf(certificatePem: string): Uint8Array {
  return new X509Certificate(certificatePem).publicKey.export({ type: 'spki', format: 'der' });
}

/** A certificate for the node's own key, or with a key that is made for it. */
async function workloadOf(
  { authority }: Uses<'authority'>,
  id: string,
  publicKey: Uint8Array,
): Promise<CertificatePem> {
  if (publicKey.length === 0) return authority.issue(id);
  return { certificate: await authority.certify(id, Uint8Array.from(publicKey)), key: '' };
}

function enrollsTwice(): AppError {
  return refusal('aborted', 'fingerprint: the node enrolls twice at once; try again');
}

/** A key comes back: not over a wire that others can read. */
function refuseInTheClear(context: HandlerContext, secured: boolean): void {
  if (secured || context.values.get(entranceKey) === 'socket') return;
  throw refusal(
    'failed_precondition',
    'nodes enroll over HTTPS only: run the controller without --management-tls off',
  );
}

/** Errors: unauthenticated for what is no token of ours. */
function tokenOf(parts: Uses<'store'>, text: string): EnrollmentTokenRecord {
  const { id, secret } = readToken(text);
  const token = id === '' ? undefined : parts.store.get(enrollmentTokens, id);
  if (token !== undefined && isSecret(secret, token.secretSha256)) return token;
  throw refusal('unauthenticated', 'enrollmentToken: is not known here');
}

/** Errors: as `admitToToken`, and resource_exhausted when there are too many nodes. */
function admit(
  tx: ReadStore,
  token: EnrollmentTokenRecord,
  fingerprint: string,
  nowMs: number,
): EnrollmentRecord | undefined {
  const present = tx.get(enrollmentTokens, token.id);
  if (present === undefined) throw refusal('unauthenticated', 'enrollmentToken: is gone');
  const known = tx.get(enrollments, enrollmentId(token, fingerprint));
  admitToToken(present, known, tx.count(enrollments, 'token', token.id), nowMs);
  return known;
}

function enrollmentId(token: EnrollmentTokenRecord, fingerprint: string): string {
  return `${token.id}/${hashSecret(fingerprint)}`;
}

function enrollmentOf(
  token: EnrollmentTokenRecord,
  agent: AgentRecord,
  fingerprint: string,
): EnrollmentRecord {
  return {
    id: enrollmentId(token, fingerprint),
    tokenId: token.id,
    agentId: agent.id,
    enrolledAt: agent.updatedAt,
    deletedAt: '',
  };
}

function agentOf(
  tx: WriteStore,
  token: EnrollmentTokenRecord,
  { fingerprint, hostname, os, arch, version }: EnrollRequest,
  id: string,
  { ip, now }: { readonly ip: string; readonly now: string },
): AgentRecord {
  const facts = { fingerprint, hostname, ip, os, arch, version, updatedAt: now, registeredAt: now };
  const before = tx.get(agents, id);
  if (before !== undefined) return { ...before, ...facts };
  if (tx.count(agents) >= nodeLimits.agentsMax) {
    throw refusal('resource_exhausted', 'there are too many nodes: delete some first');
  }
  const others = ownedBy(tx, token, { collection: agents });
  if (others.some((other) => other.fingerprint === fingerprint)) {
    throw enrollsTwice();
  }
  const name = freeName(hostname, id, new Set(others.map((other) => other.name)));
  const status = 'AGENT_STATUS_OFFLINE' as const;
  return {
    id,
    tenantId: token.tenantId,
    name,
    status,
    tags: [...token.tags],
    createdAt: now,
    ...facts,
  };
}

function keep(
  tx: WriteStore,
  token: EnrollmentTokenRecord,
  agent: AgentRecord,
  enrollment: EnrollmentRecord,
): void {
  const before = tx.get(agents, agent.id);
  tx.put(agents, agent);
  tx.put(enrollments, { ...enrollment, agentId: agent.id });
  tx.put(enrollmentTokens, { ...token, updatedAt: agent.updatedAt });
  tx.audit({
    ...nodeActor(agent),
    action: before === undefined ? 'enroll' : 'enroll_again',
    after: agent,
    metadata: { tokenId: token.id },
  });
}
