/** Reports on documents: what became of each operation, and diagnostics. Deterministic, hashed. */

import { createHash } from 'node:crypto';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { Diagnostic } from './document-model.ts';

/** Identifier of the form of reports. */
export const reportFormat = 'waf.api_document_report.v1';
/** Rises when the same document would give another report. */
export const producerVersion = 'waf-api-documents-1';

/** The steps that report. */
export type ReportStage = 'parse' | 'declaration' | 'profile';

/** What became of one operation. */
export interface ReportedOperation {
  /** '' before operations have a place on the site. */
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly pointer: string;
  readonly state: 'read' | 'declared' | 'compiled' | 'partial' | 'excluded';
  /** Values that are checked, and constraints that are not; absent before compiling. */
  readonly checked?: number;
  readonly unchecked?: number;
}

/** A report. */
export interface DocumentReport {
  readonly format: typeof reportFormat;
  readonly stage: ReportStage;
  readonly producerVersion: string;
  readonly sourceSha256: string;
  /** Of all that the report was made from. */
  readonly inputSha256: string;
  readonly documentFamily: string;
  readonly documentVersion: string;
  readonly operations: readonly ReportedOperation[];
  readonly diagnostics: readonly Diagnostic[];
  /** Diagnostics past the bound of one report. */
  readonly omittedDiagnostics: number;
}

/** A report with its bytes and their hash. */
export interface SealedReport {
  readonly report: DocumentReport;
  readonly json: string;
  readonly sha256: string;
}

/** What a report says, without what follows from it. */
export type ReportContent = Omit<
  DocumentReport,
  'format' | 'producerVersion' | 'omittedDiagnostics'
>;

const severities = ['error', 'warning', 'info'];

/** Sorts, bounds and hashes a report. */
export function sealReport(content: ReportContent): SealedReport {
  const order = ({ severity, pointer, code }: Diagnostic): string =>
    `${severities.indexOf(severity)} ${pointer} ${code}`;
  const keyed = content.diagnostics.map((one) => ({ one, by: order(one) }));
  keyed.sort((left, right) => (left.by < right.by ? -1 : left.by > right.by ? 1 : 0));
  const kept = keyed.slice(0, apiDocumentLimits.diagnosticsMax).map(({ one }) => one);
  const report: DocumentReport = {
    format: reportFormat,
    producerVersion,
    ...content,
    diagnostics: kept,
    omittedDiagnostics: keyed.length - kept.length,
  };
  const json = canonicalJson(report);
  return { report, json, sha256: createHash('sha256').update(json).digest('hex') };
}

/** One page of a report, as JSON. */
export function reportPage(
  report: DocumentReport,
  kind: 'operations' | 'diagnostics',
  offset: number,
  pageSize: number,
) {
  const all: readonly unknown[] = report[kind];
  const items = all.slice(offset, offset + pageSize);
  const next = offset + items.length;
  return {
    kind,
    offset,
    items,
    total: all.length,
    omitted: kind === 'diagnostics' ? report.omittedDiagnostics : 0,
    nextOffset: next < all.length ? next : null,
  };
}
