/**
 * The shape in which API documents and what is made of them are kept. Every object is immutable and
 * named by its hash; contents lie in blobs. Never holds a decision.
 */

import type {
  ApiDocumentReportMetadataJson,
  SchemaBindingsJson,
  SchemaContractJson,
  SchemaProfileJson,
  SchemaSourceJson,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';

/** What every object of a site's documents has. */
interface OfSite {
  readonly id: string;
  readonly tenantId: string;
  readonly siteId: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** An uploaded document. `blob` holds the bytes, `documentBlob` what was read of them as JSON. */
export type SchemaSourceRecord = SchemaSourceJson &
  OfSite & {
    /** Counts the documents of the site. */
    readonly revision: string;
    readonly sourceSha256: string;
    readonly sizeBytes: number;
    readonly blob: string;
    readonly documentBlob: string;
    readonly documentBytes: number;
    readonly parseReportId: string;
    /** The draft of a request part: contract and operation that it changes; absent for others. */
    readonly draftOf?: { readonly contractId: string; readonly operationKey: string };
  };

/** A report on a document. `blob` holds its JSON. */
export type ApiReportRecord = ApiDocumentReportMetadataJson &
  OfSite & {
    readonly sourceId: string;
    readonly reportSha256: string;
    readonly inputSha256: string;
    readonly blob: string;
  };

/** A reviewed declaration. `blob` holds its JSON. */
export type SchemaContractRecord = SchemaContractJson &
  OfSite & {
    readonly sourceId: string;
    readonly revision: string;
    readonly sha256: string;
    readonly reportId: string;
    readonly catalogSha256: string;
    readonly previousContractSha256: string;
    readonly blob: string;
    readonly changesBlob: string;
  };

/** Compiled checks. `blob` holds what is shown of them, `artifactBlob` what engines get. */
export type SchemaProfileRecord = SchemaProfileJson &
  OfSite & {
    readonly sourceId: string;
    readonly revision: string;
    readonly profileSha256: string;
    readonly artifactSha256: string;
    readonly reportId: string;
    readonly blob: string;
    readonly artifactBlob: string;
    readonly artifactBytes: number;
    readonly hasChecks: boolean;
  };

/** Which operations are validated, and how. `blob` holds its JSON. */
export type SchemaBindingsRecord = SchemaBindingsJson &
  OfSite & {
    readonly declarationId: string;
    readonly profileId: string;
    readonly sha256: string;
    readonly blob: string;
  };

/** An endpoint of a site that was seen in traffic or declared. */
export interface ApiAssetRecord extends OfSite {
  readonly method: string;
  /** Lower-case host name. */
  readonly host: string;
  /** With parameters in braces, for example `/users/{id}`. */
  readonly path: string;
  readonly revision: number;
  /** In the catalog: by a contract that is in use. Traffic alone never sets this. */
  readonly cataloged: boolean;
  /** Hidden from lists, without any effect on requests. */
  readonly hidden: boolean;
  /** RFC 3339: left out of lists until traffic shows it again; absent where it is not. */
  readonly retiredAt?: string;
  readonly updatedAt: string;
}
