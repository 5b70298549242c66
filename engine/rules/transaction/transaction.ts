/**
 * The state of one transaction while rules run over it: values, TX, collections, flags that
 * body processors set, switches that `ctl` turns, and what has matched. Reused between requests by
 * `begin`; both the oracle and the fast path work on it. Holds no rule logic.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { AppError, inspectionDeadline } from '../../../base/errors.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { StoredChange, StoredText } from '../../base/stored-change.ts';
import type { ValueSigns } from '../../contract/detection-content.ts';
import type { RequestSnapshot, ResponseSnapshot } from '../../contract/message.ts';
import type { MatchedRule } from '../../contract/verdict.ts';
import type { InspectionLimitName } from './inspection-limits.ts';
import { noRequest } from './no-request.ts';
import { workedUs, type RulePorts } from './ports.ts';
import { TransformedTexts } from './transformed.ts';
import { TxCollection } from './tx-collection.ts';
import type { EngineMode, ProgramSettings, Rule, Target } from './types.ts';
import { type Entry, ValueTable } from './values.ts';
import type { XmlElement } from './xml-element.ts';

/** Who runs a rule notes it (`notePcreLimit`) where more searches were stopped afterwards. */
export { pcreSearches } from '../../match/regex.ts';

const nothingLeftOut: readonly number[] = [];
const noSigns: readonly ValueSigns[] = [];

/** Collections that outlive a transaction. */
export type PersistentName = 'ip' | 'global' | 'session' | 'user' | 'resource';

/** A collection that `initcol` (or setsid, setuid, setrsc) opened for this transaction. */
export interface OpenCollection {
  readonly key: ByteString;
  /** By lower-case name. */
  readonly values: Map<string, StoredText>;
  /** What this transaction did to them, by the same name. */
  readonly changes: Map<string, StoredChange>;
  changed: boolean;
}

/** One target excluded for one rule, tag or message at run time by `ctl:ruleRemoveTarget...`. */
export interface RemovedTarget {
  readonly by: 'id' | 'tag' | 'msg';
  /** Rule id range for `id`. */
  readonly from: number;
  readonly to: number;
  /** Exact tag or message for `tag` and `msg`; compared as ModSecurity does. */
  readonly text: ByteString;
  readonly target: Target;
}

/** What `ctl` changed; reset for every transaction. */
export interface ControlState {
  engine: EngineMode;
  requestBodyAccess: boolean;
  responseBodyAccess: boolean;
  forceRequestBodyVariable: boolean;
  /** Upper case (URLENCODED, MULTIPART, JSON, XML, GRPC); empty = by Content-Type. */
  requestBodyProcessor: string;
  parseXmlIntoArgs: 'off' | 'on' | 'onlyArgs';
  auditEngine: 'on' | 'off' | 'relevantOnly';
  auditLogParts: string;
  debugLogLevel: number;
  /** Ranges [from, to] of removed rule ids. */
  removedIds: [number, number][];
  removedTags: ByteString[];
  removedMessages: ByteString[];
  removedTargets: RemovedTarget[];
}

/** Flags of the multipart parser; 1 = set, as the MULTIPART_* variables show them. */
export interface MultipartFlags {
  strictError: number;
  unmatchedBoundary: number;
  boundaryQuoted: number;
  boundaryWhitespace: number;
  dataBefore: number;
  dataAfter: number;
  headerFolding: number;
  lfLine: number;
  crlfLfLines: number;
  missingSemicolon: number;
  invalidQuoting: number;
  invalidPart: number;
  invalidHeaderFolding: number;
  fileLimitExceeded: number;
  /** Ours: backends differ on whether some part is a field or a file, or on its names. */
  ambiguousPart: number;
  /** Ours: some backends take less than all of it for the boundary. */
  ambiguousBoundary: number;
  /** Ours: backends read the body in different ways, or it breaks off. */
  twoReadings: number;
  /** Ours: what the first difference is; '' for none. */
  readingsReason: string;
  /** What Content-Disposition named, in order; with duplicates. */
  readonly names: ByteString[];
  readonly fileNames: ByteString[];
}

/** One uploaded file as the parser met it. */
export interface UploadedFile {
  readonly field: ByteString;
  readonly fileName: ByteString;
  readonly sizeBytes: number;
  /** True where only the beginning of its content was inspected. */
  readonly cut: boolean;
  /** Content in the slab, as far as it was inspected. */
  readonly start: number;
  readonly end: number;
}

/** Everything that rules read and write while one request is inspected. */
export class Transaction {
  readonly values = new ValueTable();
  readonly tx = new TxCollection();
  readonly transformed = new TransformedTexts();
  persistent = new Map<PersistentName, OpenCollection>();
  env = new Map<string, ByteString>();
  readonly control: ControlState = {
    engine: 'on',
    requestBodyAccess: true,
    responseBodyAccess: true,
    forceRequestBodyVariable: false,
    requestBodyProcessor: '',
    parseXmlIntoArgs: 'off',
    auditEngine: 'relevantOnly',
    auditLogParts: '',
    debugLogLevel: 0,
    removedIds: [],
    removedTags: [],
    removedMessages: [],
    removedTargets: [],
  };
  multipart: MultipartFlags | null = null;
  /** An XML body was read; the tree that other selectors search is made when one asks. */
  xmlPresent = false;
  xmlTruncated = false;
  xmlRoot: XmlElement | null = null;
  files: UploadedFile[] = [];

  request = noRequest;
  response: ResponseSnapshot | null = null;
  settings!: ProgramSettings;
  ports!: RulePorts;

  /** Phase that is running, 1..5. */
  phase = 0;
  /** Rule that is being evaluated; what RULE.* and error logs show. */
  rule: Rule | null = null;

  // Request facts that are not rows.
  /** The request head as received (line to last field value) in the slab. */
  headStart = 0;
  headEnd = 0;
  /** The inspected body in the slab; the head's rules see none. */
  bodyStart = 0;
  /** Bytes of the inspected body; the REQUEST_BODY row exists only where the variable is filled. */
  requestBodyBytes = 0;
  requestBodyPresent = false;
  /** The body is a window over what follows the inspection limit of a long one. */
  bodyRest = false;
  /** Of a long multipart body: pairs of an offset in it and the bytes that are left out there. */
  filesLeftOut: readonly number[] = nothingLeftOut;
  /** Upper case: what the Content-Type asks for, after the body what ran; empty when none. */
  bodyProcessor = '';
  bodyError = 0;
  bodyErrorMessage: ByteString = '';
  inboundDataError = 0;
  outboundDataError = 0;
  /** Limits of inspection that the request reached, in order. */
  limitsReached: InspectionLimitName[] = [];
  urlEncodedError = 0;
  /** 1 after a pattern ran into its match limit. */
  pcreLimitsExceeded = 0;
  /** Ids of the rules whose patterns did. */
  pcreLimitedRules: number[] = [];
  authType: ByteString = '';
  remoteUser: ByteString = '';
  /** Status of an answer of our own, once a rule asked for one; 0 before. */
  answeredStatus = 0;
  responseBodyBytes = 0;
  responseBodyPresent = false;

  // What matched.
  matchedVariable: ByteString = '';
  matchedVariableName: ByteString = '';
  /** Of the rule (and its chain) that is being evaluated. */
  matchedVariables: Entry[] = [];
  matchedRules: MatchedRule[] = [];
  /** Values that show signs, none of which proves an attack. */
  valueSigns: readonly ValueSigns[] = noSigns;
  /** What the rule that is being evaluated added to the anomaly scores. */
  scoreAdded = 0;
  /** Lowest severity number of all matches; 255 when none stated one. */
  highestSeverity = 255;

  sessionId: ByteString = '';
  userId: ByteString = '';
  resourceId: ByteString = '';
  webAppId: ByteString = '';
  /** Filled by @geoLookup, upper-case names. */
  geo: ReadonlyMap<string, string> | null = null;
  /** Names whose values `sanitise*` hides in logs, lower case with collection prefix. */
  sanitised: ByteString[] = [];
  /** Microseconds of the monotonic clock at the start. */
  startedUs = 0;
  /** Of the same clock: `spend` throws once it is past. */
  deadlineUs = Infinity;
  private evaluations = 0;

  /**
   * Makes the object ready for a new request; keeps its memory. Cost: independent of rule count.
   */
  begin(
    request: RequestSnapshot,
    settings: ProgramSettings,
    ports: RulePorts,
    txBase?: ReadonlyMap<string, ByteString>,
  ): void {
    this.forget();
    this.tx.reset(txBase);
    this.resetControl(settings);
    this.request = request;
    this.settings = settings;
    this.ports = ports;
    this.webAppId = settings.webAppId;
    this.startedUs = ports.clock.monotonicUs();
    this.deadlineUs = Infinity;
  }

  /**
   * Drops what it holds of its request: an idle one keeps nothing of a client's, and what lives
   * shorter than the next collection of the heap costs little.
   */
  forget(): void {
    this.values.reset();
    this.transformed.forget();
    this.tx.reset();
    if (this.persistent.size > 0) this.persistent = new Map();
    if (this.env.size > 0) this.env = new Map();
    this.multipart = null;
    this.xmlPresent = false;
    this.xmlTruncated = false;
    this.xmlRoot = null;
    if (this.files.length > 0) this.files = [];
    this.request = noRequest;
    this.response = null;
    this.phase = 0;
    this.rule = null;
    this.resetFacts();
  }

  /**
   * Counts one evaluation against the transaction's time. Errors: `inspection_deadline`. Cost: a
   * look at the clock every so often.
   */
  spend(): void {
    if (++this.evaluations < ruleRunLimits.evaluationsPerLook) return;
    this.evaluations = 0;
    this.checkDeadline();
  }

  /** Errors: `inspection_deadline` when the time is up. */
  checkDeadline(): void {
    if (this.deadlineUs === Infinity) return;
    if (workedUs(this.ports) <= this.deadlineUs) return;
    throw new AppError(inspectionDeadline, 'inspection took longer than it may', {
      source: 'internal',
    });
  }

  /**
   * A search that a rule asked for ran into a match limit: rules see it, and so does the record.
   * Source: ModSecurity Reference Manual, SecPcreMatchLimit.
   */
  notePcreLimit(ruleId: number): void {
    this.pcreLimitsExceeded = 1;
    this.tx.set('msc_pcre_limits_exceeded', '1');
    const rules = this.pcreLimitedRules;
    if (rules.length < ruleRunLimits.limitedRulesMax && !rules.includes(ruleId)) {
      rules.push(ruleId);
    }
  }

  private resetControl(settings: ProgramSettings): void {
    const control = this.control;
    control.engine = settings.engine;
    control.requestBodyAccess = settings.requestBodyAccess;
    control.responseBodyAccess = settings.responseBodyAccess;
    control.forceRequestBodyVariable = false;
    control.requestBodyProcessor = '';
    control.parseXmlIntoArgs = settings.parseXmlIntoArgs;
    control.auditEngine = settings.auditEngine;
    control.auditLogParts = settings.auditLogParts;
    control.debugLogLevel = 0;
    if (control.removedIds.length > 0) control.removedIds = [];
    if (control.removedTags.length > 0) control.removedTags = [];
    if (control.removedMessages.length > 0) control.removedMessages = [];
    if (control.removedTargets.length > 0) control.removedTargets = [];
  }

  private resetFacts(): void {
    this.headStart = 0;
    this.headEnd = 0;
    this.bodyStart = 0;
    this.requestBodyBytes = 0;
    this.requestBodyPresent = false;
    this.bodyRest = false;
    this.filesLeftOut = nothingLeftOut;
    this.bodyProcessor = '';
    this.bodyError = 0;
    this.bodyErrorMessage = '';
    this.inboundDataError = 0;
    this.outboundDataError = 0;
    if (this.limitsReached.length > 0) this.limitsReached = [];
    this.urlEncodedError = 0;
    this.pcreLimitsExceeded = 0;
    if (this.pcreLimitedRules.length > 0) this.pcreLimitedRules = [];
    this.authType = '';
    this.remoteUser = '';
    this.answeredStatus = 0;
    this.responseBodyBytes = 0;
    this.responseBodyPresent = false;
    this.matchedVariable = '';
    this.matchedVariableName = '';
    if (this.matchedVariables.length > 0) this.matchedVariables = [];
    if (this.matchedRules.length > 0) this.matchedRules = [];
    this.valueSigns = noSigns;
    this.highestSeverity = 255;
    this.sessionId = '';
    this.userId = '';
    this.resourceId = '';
    this.webAppId = '';
    this.geo = null;
    if (this.sanitised.length > 0) this.sanitised = [];
  }
}
