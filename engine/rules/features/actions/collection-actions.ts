/** The actions that open persistent collections and let their values age. */

import type { ByteString } from '../../../../base/byte-string.ts';
import {
  addStored,
  expireStored,
  isPersistentName,
  openCollection,
} from '../../transaction/collections.ts';
import { expandMacro, lowerBytes } from '../../transaction/macro.ts';
import { readInteger } from '../operators/operator-common.ts';
import type { PersistentName, Transaction } from '../../transaction/transaction.ts';
import type {
  ActionDefinition,
  BindContext,
  BindFailure,
  BoundAction,
  MacroText,
} from '../../transaction/types.ts';
import { parseVariableName, splitAssignment } from './action-common.ts';

const collectionNames = 'expected ip, global, session, user or resource';

/** Opens a collection under a key. */
export const initcol: ActionDefinition = {
  name: 'initcol',
  kind: 'runtime',
  argument: 'required',
  summary: 'Opens a persistent collection under a key.',
  example: 'SecAction "id:1,phase:1,pass,nolog,initcol:ip=%{REMOTE_ADDR}"',
  source: 'ModSecurity Reference Manual, Actions, initcol',
  bind: (argument, context) => {
    const { left, right } = splitAssignment(argument);
    const name = left.trim().toLowerCase();
    if (right === null) return { failure: 'expected collection=key' };
    if (!isPersistentName(name)) return { failure: collectionNames };
    const key = context.parseMacros(right);
    return isolated(initcol, argument, (tx) => openCollection(tx, name, expandMacro(key, tx)));
  },
};

/** Opens SESSION and remembers the session's id. */
export const setsid = idAction('setsid', 'session', (tx, id) => (tx.sessionId = id));

/** Opens USER and remembers the user's id. */
export const setuid = idAction('setuid', 'user', (tx, id) => (tx.userId = id));

/** Opens RESOURCE and remembers the resource's id. */
export const setrsc = idAction('setrsc', 'resource', (tx, id) => (tx.resourceId = id));

function idAction(
  name: string,
  collection: PersistentName,
  remember: (tx: Transaction, id: ByteString) => void,
): ActionDefinition {
  const definition: ActionDefinition = {
    name,
    kind: 'runtime',
    argument: 'required',
    summary: `Opens the ${collection} collection under an id.`,
    example: `SecRule REQUEST_COOKIES:ID "@rx ." "id:1,pass,nolog,${name}:%{MATCHED_VAR}"`,
    source: `ModSecurity Reference Manual, Actions, ${name}`,
    bind: (argument, context) => {
      const id = context.parseMacros(argument);
      return isolated(definition, argument, (tx) => {
        const text = expandMacro(id, tx);
        remember(tx, text);
        openCollection(tx, collection, text);
      });
    },
  };
  return definition;
}

/** Lets a collection's value end after some seconds. */
export const expirevar: ActionDefinition = {
  name: 'expirevar',
  kind: 'runtime',
  argument: 'required',
  summary: "Lets a collection's value end after some seconds.",
  example: 'SecRule ARGS "@rx x" "id:1,setvar:ip.seen=1,expirevar:ip.seen=3600"',
  source: 'ModSecurity Reference Manual, Actions, expirevar',
  bind: (argument, context) => {
    const parsed = parseAged(argument, context);
    if ('failure' in parsed) return parsed;
    const { collection, name, right } = parsed;
    const seconds = context.parseMacros(right);
    return isolated(expirevar, argument, (tx) => {
      const key = lowerBytes(expandMacro(name, tx));
      expireStored(tx, collection, key, Number(readInteger(expandMacro(seconds, tx))));
    });
  },
};

/** Lowers a counter by some amount for every N seconds since it was last saved. */
export const deprecatevar: ActionDefinition = {
  name: 'deprecatevar',
  kind: 'runtime',
  argument: 'required',
  summary: 'Lowers a counter by AMOUNT for every SECONDS since the collection was last saved.',
  example: 'SecAction "id:1,phase:5,pass,nolog,deprecatevar:session.score=60/300"',
  source: 'ModSecurity Reference Manual, Actions, deprecatevar',
  bind: (argument, context) => {
    const parsed = parseAged(argument, context);
    if ('failure' in parsed) return parsed;
    const { collection, name, right } = parsed;
    const rate = /^\s*(\d{1,9})\s*\/\s*(\d{1,9})\s*$/.exec(right);
    const amount = Number(rate?.[1]);
    const seconds = Number(rate?.[2]);
    if (!rate || seconds === 0) return { failure: 'expected amount/seconds' };
    return isolated(deprecatevar, argument, (tx) =>
      deprecate(tx, collection, lowerBytes(expandMacro(name, tx)), amount, seconds),
    );
  },
};

function deprecate(
  tx: Transaction,
  collection: PersistentName,
  name: string,
  amount: number,
  seconds: number,
): void {
  const values = tx.persistent.get(collection)?.values;
  const old = values?.get(name);
  const saved = values?.get('last_update_time');
  if (!old || !saved) return;
  const elapsed = Math.floor(tx.ports.clock.nowMs() / 1000) - Number(readInteger(saved.value));
  const steps = Math.floor(elapsed / seconds);
  if (steps <= 0) return;
  const before = Number(readInteger(old.value));
  const after = Math.max(0, before - steps * amount);
  addStored(tx, collection, name, after - before, String(after));
}

interface Aged {
  readonly collection: PersistentName;
  readonly name: MacroText;
  readonly right: ByteString;
}

function parseAged(argument: ByteString, context: BindContext): Aged | BindFailure {
  const { left, right } = splitAssignment(argument);
  const variable = parseVariableName(left, context);
  if (!variable || right === null) return { failure: 'expected collection.name=value' };
  const { collection, name } = variable;
  if (!isPersistentName(collection)) return { failure: collectionNames };
  return { collection, name, right };
}

function isolated(
  definition: ActionDefinition,
  argument: ByteString,
  run: (tx: Transaction) => void,
): BoundAction | BindFailure {
  return { definition, argument, effect: { kind: 'isolated' }, run };
}
