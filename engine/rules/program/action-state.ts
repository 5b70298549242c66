/** What the action lists of one rule add up to, before it becomes a rule. No behavior. */

import type { ByteString } from '../../../base/byte-string.ts';
import type {
  BoundAction,
  DisruptiveKind,
  MacroText,
  TransformationDefinition,
} from '../transaction/types.ts';

/** What a rule does to the transaction; `block` stands for what the defaults of its phase say. */
export interface DisruptiveChoice {
  readonly kind: DisruptiveKind | 'block';
  readonly location: MacroText | null;
}

/** Changed by one action after the other: the defaults first, then the rule's own, then updates. */
export interface ActionState {
  transformations: TransformationDefinition[];
  multiMatch: boolean;
  capture: boolean;
  readonly actions: BoundAction[];
  disruptive: DisruptiveChoice | null;
  /** Of SecDefaultAction. */
  defaultDisruptive: DisruptiveChoice | null;
  /** 0 while none is stated. */
  status: number;
  skip: number;
  skipAfter: string | null;
  message: MacroText | null;
  logData: MacroText | null;
  /** -1 while none is stated. */
  severity: number;
  tags: MacroText[];
  rev: ByteString;
  ver: ByteString;
  maturity: number;
  accuracy: number;
  log: boolean;
  auditLog: boolean;
  readonly namespaces: Map<string, string>;
}

/** The state of a rule without actions: it matches, is logged, and lets the transaction pass. */
export function createActionState(): ActionState {
  return {
    transformations: [],
    multiMatch: false,
    capture: false,
    actions: [],
    disruptive: null,
    defaultDisruptive: null,
    status: 0,
    skip: 0,
    skipAfter: null,
    message: null,
    logData: null,
    severity: -1,
    tags: [],
    rev: '',
    ver: '',
    maturity: 0,
    accuracy: 0,
    log: true,
    auditLog: true,
    namespaces: new Map(),
  };
}
