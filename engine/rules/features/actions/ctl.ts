/** The action `ctl`: switches of the engine for one transaction, all forms. */

import type { ByteString } from '../../../../base/byte-string.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type {
  ActionDefinition,
  ActionEffect,
  BindContext,
  BindFailure,
  BoundAction,
  EngineMode,
} from '../../transaction/types.ts';
import { splitAssignment } from './action-common.ts';
import { bindRemoval, isRemoval } from './ctl-removal.ts';

/** Turns one switch: `name=value`. */
export const ctl: ActionDefinition = {
  name: 'ctl',
  kind: 'runtime',
  argument: 'required',
  summary: 'Turns a switch of the engine or takes rules and targets out, for one transaction.',
  example: 'SecRule REQUEST_URI "@beginsWith /api" "id:1,pass,nolog,ctl:ruleRemoveById=942100"',
  source: 'ModSecurity Reference Manual, Actions, ctl',
  bind: bindCtl,
};

type Change = (tx: Transaction) => void;

/** `isolated` changes touch nothing that decides which rules run or match. */
interface Switch {
  readonly isolated?: boolean;
  /** Why it has no effect beyond its value, as the directive of the same name says it. */
  readonly caution?: string;
  /** null when the value is not one of this switch. */
  read(value: ByteString): Change | null;
}

const noEffect = (name: string, why: string): string =>
  `ctl:${name} has no effect of its own: ${why}`;

const cautions = {
  auditEngine: noEffect(
    'auditEngine',
    'every match of a rule that logs is recorded; the log policy says what is kept',
  ),
  auditLogParts: noEffect('auditLogParts', 'records hold what the log policy keeps'),
  debugLogLevel: noEffect('debugLogLevel', 'records go where the log policy sends them'),
};

const switches: ReadonlyMap<string, Switch> = new Map<string, Switch>([
  ['ruleengine', { read: ruleEngine }],
  ['requestbodyaccess', { read: onOff((tx, on) => (tx.control.requestBodyAccess = on)) }],
  ['responsebodyaccess', { read: onOff((tx, on) => (tx.control.responseBodyAccess = on)) }],
  [
    'forcerequestbodyvariable',
    { read: onOff((tx, on) => (tx.control.forceRequestBodyVariable = on)) },
  ],
  ['requestbodyprocessor', { read: requestBodyProcessor }],
  ['parsexmlintoargs', { read: parseXmlIntoArgs }],
  ['auditengine', { isolated: true, caution: cautions.auditEngine, read: auditEngine }],
  ['auditlogparts', { isolated: true, caution: cautions.auditLogParts, read: auditLogParts }],
  ['debugloglevel', { isolated: true, caution: cautions.debugLogLevel, read: debugLogLevel }],
]);

const switchNames =
  'ruleEngine, ruleRemoveById, ruleRemoveByTag, ruleRemoveByMsg, ruleRemoveTargetById, ' +
  'ruleRemoveTargetByTag, ruleRemoveTargetByMsg, requestBodyAccess, requestBodyProcessor, ' +
  'forceRequestBodyVariable, responseBodyAccess, parseXmlIntoArgs, auditEngine, auditLogParts, ' +
  'debugLogLevel';

function bindCtl(argument: ByteString, context: BindContext): BoundAction | BindFailure {
  const { left, right } = splitAssignment(argument);
  if (right === null) return { failure: 'expected name=value' };
  const name = left.trim().toLowerCase();
  if (isRemoval(name)) {
    const change = bindRemoval(name, right, context);
    return 'failure' in change ? change : bound(argument, (tx) => change.run(tx));
  }
  const entry = switches.get(name);
  if (!entry) return { failure: `Unknown switch. Allowed: ${switchNames}` };
  const change = entry.read(right.trim());
  if (!change) return { failure: 'the value is not one of this switch' };
  const effect: ActionEffect | undefined =
    entry.isolated === true ? { kind: 'isolated' } : undefined;
  const action = bound(argument, change, effect);
  return entry.caution === undefined ? action : { ...action, caution: entry.caution };
}

function bound(argument: ByteString, run: Change, effect?: ActionEffect): BoundAction {
  return { definition: ctl, argument, ...(effect ? { effect } : {}), run };
}

function onOff(set: (tx: Transaction, on: boolean) => void): (value: ByteString) => Change | null {
  return (value) => {
    const lower = value.toLowerCase();
    if (lower !== 'on' && lower !== 'off') return null;
    return (tx) => set(tx, lower === 'on');
  };
}

function ruleEngine(value: ByteString): Change | null {
  const modes: Record<string, EngineMode> = {
    on: 'on',
    off: 'off',
    detectiononly: 'detectionOnly',
  };
  const mode = modes[value.toLowerCase()];
  if (!mode) return null;
  return (tx) => {
    tx.control.engine = mode;
  };
}

const processors = new Set(['URLENCODED', 'MULTIPART', 'JSON', 'XML', 'GRPC']);

function requestBodyProcessor(value: ByteString): Change | null {
  const name = value.toUpperCase();
  if (!processors.has(name)) return null;
  return (tx) => {
    // Messages of JSON stand in the frames of gRPC, which that processor takes off.
    if (tx.bodyProcessor === 'GRPC' && name === 'JSON') return;
    tx.control.requestBodyProcessor = name;
  };
}

function parseXmlIntoArgs(value: ByteString): Change | null {
  const modes = { on: 'on', off: 'off', onlyargs: 'onlyArgs' } as const;
  const mode = (modes as Record<string, 'on' | 'off' | 'onlyArgs'>)[value.toLowerCase()];
  if (!mode) return null;
  return (tx) => {
    tx.control.parseXmlIntoArgs = mode;
  };
}

function auditEngine(value: ByteString): Change | null {
  const modes = { on: 'on', off: 'off', relevantonly: 'relevantOnly' } as const;
  const mode = (modes as Record<string, 'on' | 'off' | 'relevantOnly'>)[value.toLowerCase()];
  if (!mode) return null;
  return (tx) => {
    tx.control.auditEngine = mode;
  };
}

/** `ABC` replaces the parts, `+E` adds, `-E` removes. */
function auditLogParts(value: ByteString): Change | null {
  const match = /^([+-]?)([A-Za-z]+)$/.exec(value);
  if (!match) return null;
  const letters = (match[2] ?? '').toUpperCase();
  return (tx) => {
    const old = tx.control.auditLogParts;
    const without = [...old].filter((letter) => !letters.includes(letter)).join('');
    tx.control.auditLogParts =
      match[1] === '+' ? without + letters : match[1] === '-' ? without : letters;
  };
}

function debugLogLevel(value: ByteString): Change | null {
  if (!/^[0-9]$/.test(value)) return null;
  return (tx) => {
    tx.control.debugLogLevel = Number(value);
  };
}
