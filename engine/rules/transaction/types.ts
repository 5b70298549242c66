/**
 * The shapes of the catalog: what an operator, a transformation, an action, a variable and a
 * body processor are, and the linked rule that both the oracle and the fast path run. No behavior.
 */

import type { Decision } from '../../contract/decision.ts';
import type { ByteString } from '../../../base/byte-string.ts';
import type { ExactRegex } from '../../match/regex.ts';
import type { Transaction } from './transaction.ts';
import type { Entry, SourceId } from './values.ts';

/** What every catalog entry tells about itself; docs and error messages are made from it. */
export interface FeatureDefinition {
  /** As SecLang spells it. */
  readonly name: string;
  /** Other spellings. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly example: string;
  /** Where the behavior is defined. */
  readonly source: string;
}

// ---- macros ---------------------------------------------------------------------------------

/** A `%{NAME.key}` reference inside a text. */
export interface MacroReference {
  readonly variable: VariableDefinition;
  /** Lower case; empty for scalars. */
  readonly key: ByteString;
  /** As written, without `%{}`. */
  readonly text: ByteString;
  /** Present for a key between slashes: tested against the entries' keys. */
  readonly regex?: ExactRegex;
}

/** A text that may hold macros. `literal` is the whole text when it holds none. */
export interface MacroText {
  readonly source: ByteString;
  readonly literal: ByteString | null;
  readonly parts: readonly (ByteString | MacroReference)[];
}

// ---- variables ------------------------------------------------------------------------------

/** A variable of the rule language. */
export interface VariableDefinition extends FeatureDefinition {
  readonly shape: 'scalar' | 'collection';
  /**
   * All current entries, in order of arrival; a scalar has none while it is unset.
   * Names that ModSecurity gives to matches come from `name` and the entry's key.
   */
  entries(tx: Transaction): readonly Entry[];
  /** The value of a scalar, without a list around it; null while it is unset. */
  read?(tx: Transaction): ByteString | null;
  /** Entries whose key equals `key` (lower case; comparison ignores case); optional fast path. */
  lookup?(tx: Transaction, key: ByteString): readonly Entry[];
  /** Entries an XPath selector yields; present where `selector` is `xpath`. */
  select?(
    tx: Transaction,
    xpath: ByteString,
    namespaces: ReadonlyMap<string, string>,
  ): readonly Entry[];
  /** The definition that serves one XPath selector; null when it is not supported. */
  forXPath?(xpath: ByteString): VariableDefinition | null;
  /** Number of entries where that is cheaper than listing them. */
  count?(tx: Transaction): number;
  /**
   * The rows of the value table that this variable consists of, and whether it reads their values
   * or their keys; absent for variables that are computed.
   */
  readonly rows?: { readonly sources: readonly SourceId[]; readonly rowPart: 'value' | 'key' };
  /**
   * The variable whose values these are, under names that the origin gives them, and how it reads
   * a name: exclusions of that variable hold here, too. Absent for all others.
   */
  readonly renamed?: {
    readonly of: string;
    readonly read: (name: ByteString) => ByteString;
  };
  /** Settings or state a selector like `XML:/*` needs; absent: selectors are keys or regexes. */
  readonly selector?: 'none' | 'key' | 'xpath';
}

/** Which entries of a collection a target means. */
export type TargetSelector =
  | { readonly kind: 'key'; readonly key: ByteString }
  | { readonly kind: 'regex'; readonly text: ByteString; readonly regex: ExactRegex }
  | { readonly kind: 'xpath'; readonly text: ByteString };

/** One entry of a rule's target list. Key selectors are lower case. */
export interface Target {
  readonly variable: VariableDefinition;
  readonly selector: TargetSelector | null;
  /** `&NAME`: the number of entries instead of the entries. */
  readonly count: boolean;
}

// ---- operators ------------------------------------------------------------------------------

/**
 * What may be searched for before the exact evaluation. Sound: whenever the operator matches a
 * value, the prefilter matches it too.
 */
export type Prefilter =
  | {
      readonly kind: 'pattern';
      /** PCRE syntax in byte mode, dot matches newline, `$` only at the very end. */
      readonly pattern: ByteString;
      readonly caseless: boolean;
      /** True where it matches more than the operator does; all others match just the same. */
      readonly loose?: boolean;
    }
  | { readonly kind: 'words'; readonly words: readonly ByteString[]; readonly caseless: boolean }
  | { readonly kind: 'sqli' }
  | { readonly kind: 'xss' }
  /** Matches when a byte outside the 32-byte bitmap of allowed bytes occurs. */
  | { readonly kind: 'byteRange'; readonly allowed: Uint8Array }
  | { readonly kind: 'urlEncoding' }
  | { readonly kind: 'utf8' }
  /** Matches every value. */
  | { readonly kind: 'present' }
  /** Matches when prefix + value + suffix occurs in the text. */
  | {
      readonly kind: 'within';
      readonly text: ByteString;
      readonly prefix: ByteString;
      readonly suffix: ByteString;
    }
  /** Compares the value's leading integer, read as C's atoll does. */
  | { readonly kind: 'number'; readonly relation: NumberRelation; readonly operand: bigint };

/** How a number operator compares the value with its argument. */
export type NumberRelation = 'eq' | 'ge' | 'gt' | 'le' | 'lt';

/** An operator with its argument, ready to be asked. */
export interface BoundOperator {
  readonly definition: OperatorDefinition;
  /** As written after the name. */
  readonly argument: ByteString;
  /**
   * True when the value matches, before negation. `captures` (when given) receives the whole match
   * at 0 and the groups at 1..9; it is emptied first by the caller. Never throws.
   */
  evaluate(value: ByteString, tx: Transaction, captures: ByteString[] | null): boolean;
  /**
   * Sets `possible[i]` to 0 where `values[i]` cannot match, to 1 elsewhere: much cheaper than
   * evaluating each of many short values. False when it knows nothing. Absent: it never does.
   */
  sift?(values: readonly ByteString[], possible: Uint8Array): boolean;
  /** Present when the argument is constant and a prefilter exists. */
  readonly prefilter?: Prefilter;
  /**
   * Macro reference names in the argument, so that the planner knows what the result depends on.
   */
  readonly macro?: MacroText;
  /** The prefilter once the macros' values are known; null where there is none. */
  prefilterFor?(argument: ByteString): Prefilter | null;
  /** Frees native memory, where the operator holds any. */
  close?(): void;
}

/** What binding may use; all file access is injected. */
export interface BindContext {
  /** Reads a data file named by a rule in `fromFile`; null when it does not exist. */
  readDataFile(name: ByteString, fromFile: string): ByteString | null;
  /** File of the rule that is being bound. */
  readonly file: string;
  parseMacros(text: ByteString): MacroText;
  /** By the name in upper case; for arguments that name targets (`ctl:ruleRemoveTargetById`). */
  findVariable(upperName: string): VariableDefinition | undefined;
  readonly pcreMatchLimit: number;
  /** The rule was linked before, perhaps in another thread: its patterns are good. */
  readonly known: boolean;
}

/** A problem with an argument; `program` turns it into a diagnostic at the argument's place. */
export interface BindFailure {
  readonly failure: string;
}

/** An operator of the rule language. */
export interface OperatorDefinition extends FeatureDefinition {
  readonly argument: 'none' | 'optional' | 'required';
  /** True when the value, the argument and TX macros alone decide: planning may evaluate it. */
  readonly pure?: true;
  /** True when every match captures something. */
  readonly captures?: true;
  /** What a rule that uses it should know; a warning when rules are linked. */
  readonly caution?: string;
  bind(argument: ByteString, context: BindContext): BoundOperator | BindFailure;
}

// ---- transformations ------------------------------------------------------------------------

/** A transformation of the rule language. */
export interface TransformationDefinition extends FeatureDefinition {
  /** Number of the native function; -1 for `none`, which clears the chain and never runs. */
  readonly id: number;
  apply(value: ByteString): ByteString;
}

// ---- actions --------------------------------------------------------------------------------

/** What a bound action changes, for the planner's constant folding; absent means: unknown. */
export type ActionEffect =
  | {
      readonly kind: 'setTx';
      /** Lower case after expansion. */
      readonly name: MacroText;
      readonly op: 'set' | 'add' | 'subtract' | 'unset';
      readonly value: MacroText;
    }
  /** Touches no TX variable, engine switch or rule set. */
  | { readonly kind: 'isolated' };

/** An action with its argument. */
export interface BoundAction {
  readonly definition: ActionDefinition;
  /** As written after the colon. */
  readonly argument: ByteString;
  readonly effect?: ActionEffect;
  /** What about it is accepted without an effect; a warning reports it once for a program. */
  readonly caution?: string;
  /** Runs at every match of the rule it belongs to, in order. Never throws. */
  run(tx: Transaction, rule: Rule): void;
  /**
   * The same as `times` runs one after the other, of an action that reads nothing of a match.
   * Absent where each run depends on the match, or on the run before in another way.
   */
  runTimes?(tx: Transaction, rule: Rule, times: number): void;
}

/**
 * metadata, flow, disruptive and logging actions are read by `program` into fields of the rule;
 * runtime actions are bound and run at each match.
 */
export interface ActionDefinition extends FeatureDefinition {
  readonly kind: 'metadata' | 'disruptive' | 'flow' | 'logging' | 'transformation' | 'runtime';
  readonly argument: 'none' | 'optional' | 'required';
  /** runtime actions only. */
  bind?(argument: ByteString, context: BindContext): BoundAction | BindFailure;
}

// ---- body processors ------------------------------------------------------------------------

/** Parses a request body into value-table rows and transaction flags; errors set REQBODY_ERROR. */
export interface BodyProcessorDefinition extends FeatureDefinition {
  /**
   * Reads the body that stands in [start, end) of the slab. Never throws but `slab_full`;
   * `truncated` says that the body continues after `end`.
   */
  process(tx: Transaction, start: number, end: number, truncated: boolean): void;
}

// ---- linked rules ---------------------------------------------------------------------------

/** What a rule does to the transaction when it matches. */
export type DisruptiveKind =
  'pass' | 'deny' | 'drop' | 'redirect' | 'allow' | 'allowPhase' | 'allowRequest';

/** The disruptive outcome of a rule after `block` and the defaults were resolved. */
export interface Disruption {
  readonly kind: DisruptiveKind;
  /** 403 unless `status` gives another. */
  readonly status: number;
  readonly location: MacroText | null;
}

/** Where a rule stands. */
export interface RuleLocation {
  readonly file: string;
  readonly line: number;
}

/** A data file that an operator was bound with. */
export interface DataFile {
  /** As the rule names it. */
  readonly name: ByteString;
  readonly text: ByteString;
}

/** One linked SecRule or SecAction; chain links hang on `next` and have no entry of their own. */
export interface Rule {
  readonly kind: 'rule';
  /** Position in the program, unique over phases and chain links. */
  readonly index: number;
  /** 0 for chain links. */
  readonly id: number;
  readonly phase: number;
  /** Empty for SecAction. */
  readonly targets: readonly Target[];
  readonly exclusions: readonly Target[];
  /** null for SecAction. */
  readonly operator: BoundOperator | null;
  readonly negated: boolean;
  readonly transformations: readonly TransformationDefinition[];
  readonly multiMatch: boolean;
  readonly capture: boolean;
  readonly actions: readonly BoundAction[];
  readonly disruption: Disruption;
  readonly skip: number;
  readonly skipAfter: string | null;
  readonly message: MacroText | null;
  readonly logData: MacroText | null;
  readonly severity: number;
  readonly tags: readonly MacroText[];
  readonly rev: ByteString;
  readonly ver: ByteString;
  readonly maturity: number;
  readonly accuracy: number;
  readonly log: boolean;
  readonly auditLog: boolean;
  /** Prefix to namespace for XML targets. */
  readonly namespaces: ReadonlyMap<string, string>;
  readonly next: Rule | null;
  readonly location: RuleLocation;
  /** The operator as written, for log lines: `@rx ...` with its `!`. */
  readonly operatorText: ByteString;
  /** What the operator was bound with beside its argument. */
  readonly dataFiles: readonly DataFile[];
}

/** A rule without its place in a program: what programs with the same rule share. */
export type RuleTemplate = Omit<Rule, 'index' | 'next'>;

/** A SecMarker: a place to skip to. */
export interface Marker {
  readonly kind: 'marker';
  readonly name: string;
}

/** One entry of a phase, in the order of the rule files. */
export type ProgramItem = Rule | Marker;

/** SecRuleEngine. */
export type EngineMode = 'on' | 'off' | 'detectionOnly';

/** Engine directives after linking; units in the names. */
export interface ProgramSettings {
  readonly engine: EngineMode;
  readonly requestBodyAccess: boolean;
  readonly responseBodyAccess: boolean;
  readonly requestBodyLimitBytes: number;
  readonly requestBodyNoFilesLimitBytes: number;
  readonly requestBodyLimitAction: 'reject' | 'processPartial';
  /** Past the limit, with `processPartial`: how far a body is still inspected. */
  readonly requestBodyExcessBytes: number;
  /** After that, in windows: what rules that match there may do; `off` inspects none of it. */
  readonly requestBodyExcessAction: 'off' | 'record' | 'block';
  /** Bytes of a body that are inspected in all; 0 = no bound but the longest body. */
  readonly requestBodyInspectionLimitBytes: number;
  /** Larger multipart bodies are refused, whatever the action; 0 = the limit of other bodies. */
  readonly multipartBodyLimitBytes: number;
  /** Inspects what no body processor reads, and what follows an error or a limit. */
  readonly inspectsUnparsed: boolean;
  /** What refuses a request; see `engine/contract/decision.ts`. */
  readonly decision: Decision;
  /** Name of the points that make a score. */
  readonly scoreWeights: string;
  /** Scores from which on a request is watched, asked and refused; 0 = as the weights say. */
  readonly watchScore: number;
  readonly challengeScore: number;
  readonly blockScore: number;
  readonly responseBodyLimitBytes: number;
  readonly responseBodyLimitAction: 'reject' | 'processPartial';
  readonly responseBodyMimeTypes: readonly string[];
  readonly argumentsMax: number;
  readonly argumentSeparator: string;
  /** Rules look at the readings of the path. */
  readonly pathReadings: boolean;
  /** Rules look at values under the names that programs on the origin give them. */
  readonly renamedValues: boolean;
  readonly jsonDepthMax: number;
  readonly uploadFilesMax: number;
  readonly collectionTimeoutSeconds: number;
  /** Whether the leaves of XML become arguments; `ctl:parseXmlIntoArgs` changes it. */
  readonly parseXmlIntoArgs: 'off' | 'on' | 'onlyArgs';
  readonly pcreMatchLimit: number;
  readonly auditEngine: 'on' | 'off' | 'relevantOnly';
  readonly auditLogParts: string;
  readonly componentSignatures: readonly string[];
  readonly webAppId: string;
  readonly sensorId: string;
  /** Code point to byte, 65536 entries, or null for the built-in best fit. */
  readonly unicodeMap: Uint8Array | null;
}

/** The whole linked rule set. `phases[p]` holds the items of phase p in order; index 0 is empty. */
export interface Program {
  readonly settings: ProgramSettings;
  readonly phases: readonly (readonly ProgramItem[])[];
  /** Rules including chain links, by `index`. */
  readonly rules: readonly Rule[];
  /** Rules that exceptions took out, in order. They never run. */
  readonly removed: readonly RemovedRule[];
}

/** A rule that an exception took out, and where it stood. */
export interface RemovedRule {
  /** Its index is none of the program's. */
  readonly rule: Rule;
  /** Index of the item of its phase that it stood before; their number where it was the last. */
  readonly place: number;
}
