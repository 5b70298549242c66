/**
 * The shape in which routing tables, certificates, DNS providers, nodes and data sets are kept.
 * Secrets have records of their own, so that what is shown and audited never holds one.
 */

import type { AgentGroupJson } from '../../proto/gen/waf/v1/agent_group_pb.ts';
import type { AgentJson } from '../../proto/gen/waf/v1/agent_pb.ts';
import type { ACMEDNSProviderJson, CertificateJson } from '../../proto/gen/waf/v1/cert_pb.ts';
import type { SiteRoutingJson } from '../../proto/gen/waf/v1/site_pb.ts';
import type { GeoDatabaseJson } from '../../proto/gen/waf/v1/system_pb.ts';
import type { ResourceBase } from './records.ts';

/** The routing table of one site; the id is the site's. */
export interface SiteRoutingRecord {
  readonly id: string;
  readonly routing: SiteRoutingJson;
}

/** A certificate as it is kept, with its public texts. */
export type CertificateRecord = CertificateJson &
  ResourceBase & {
    readonly name: string;
    readonly fingerprintSha256: string;
    /** PEM of the certificate itself. */
    readonly certPem: string;
    /** PEM of the certificates between it and the root, in order. */
    readonly chainPem: readonly string[];
  };

/** The private key of a certificate; the id is the certificate's. Never leaves but by export. */
export interface CertificateKeyRecord {
  readonly id: string;
  /** PKCS #8 PEM. */
  readonly keyPem: string;
}

/** An account at a DNS provider as it is kept. */
export type DnsProviderRecord = ACMEDNSProviderJson &
  ResourceBase & { readonly name: string; readonly provider: string };

/** The credentials of a DNS provider; the id is the account's. Never leaves the store. */
export interface DnsCredentialsRecord {
  readonly id: string;
  /** JSON object. */
  readonly credentialsJson: string;
}

/** An enrolled node as it is kept. */
export type AgentRecord = AgentJson &
  ResourceBase & {
    readonly name: string;
    /** What the controller noted that it is, or was last, connected to, where there are several. */
    readonly noted?: NodeNote;
  };

/** What one of several controllers noted of a node. */
export interface NodeNote {
  /** Id of its run. */
  readonly controller: string;
  /** What became of the latest configuration; null while that is not known. */
  readonly apply: {
    readonly revision: string;
    readonly sha256: string;
    readonly success: boolean;
    readonly error: string;
    readonly atMs: number;
  } | null;
  readonly fault: string;
}

/** A group of nodes as it is kept. */
export type AgentGroupRecord = AgentGroupJson & ResourceBase & { readonly name: string };

/** A data set that maps addresses; the id is its kind, the content lies in a blob. */
export type GeoDatabaseRecord = GeoDatabaseJson & {
  readonly id: string;
  readonly sha256: string;
  readonly blob: string;
};
