/** PasskeyService: the caller's passkeys, and sign-in by one. */

import { create } from '@bufbuild/protobuf';
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import {
  PasskeySchema,
  type Passkey,
  type PasskeyService,
} from '../../../proto/gen/waf/access/v1/passkey_pb.ts';
import { consolePlace, passkeysOf, type ConsolePlace } from '../../auth/passkeys.ts';
import type { Caller } from '../../auth/permissions.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import { passkeysAllowed, publicUrlOf } from '../../domain/settings/identity-settings.ts';
import {
  credentials,
  settingsId,
  systemSettings,
  type PasskeyRecord,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { beginSession } from '../auth-service/login.ts';
import { requireUser } from '../auth-service/own-user.ts';
import { addressKey, callerOf, type Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Built, Method } from '../method.ts';
import { noteAction } from '../resource/owned.ts';
import { userKind } from '../user-service/user.ts';

type Parts = Uses<'store' | 'sessions' | 'signIn' | 'passkeys' | 'secureCookies'>;

/** PasskeyService. */
export function passkeyService(parts: Parts): Built<typeof PasskeyService> {
  return {
    beginPasskeyRegistration: beginRegistration(parts),
    finishPasskeyRegistration: finishRegistration(parts),
    listPasskeys: listPasskeys(parts),
    renamePasskey: renamePasskey(parts),
    removePasskey: removePasskey(parts),
    setPasskeySecondFactor: setSecondFactor(parts),
    beginPasskeySignIn: beginSignIn(parts),
    finishPasskeySignIn: finishSignIn(parts),
  };
}

function beginRegistration(
  parts: Uses<'store' | 'signIn' | 'passkeys'>,
): Method<typeof PasskeyService, 'beginPasskeyRegistration'> {
  return async ({ currentPassword }, context) => {
    const caller = callerOf(context);
    const user = requireUser(parts.store, caller);
    const place = placeOf(parts.store, context);
    requireText(currentPassword, 'currentPassword');
    // Who found an open session must not keep a way in.
    if (!(await parts.signIn.confirm(user.id, currentPassword, caller.address))) {
      throw refusal('permission_denied', 'currentPassword: is wrong');
    }
    const { token, optionsJson, expiresAtMs } = await parts.passkeys.beginRegistration(user, place);
    const expiresAt = timestampFromMs(expiresAtMs);
    return { registrationToken: token, optionsJson, expiresAt };
  };
}

function finishRegistration(
  parts: Uses<'store' | 'passkeys'>,
): Method<typeof PasskeyService, 'finishPasskeyRegistration'> {
  return async ({ registrationToken, credentialJson, name }, context) => {
    const caller = callerOf(context);
    const user = requireUser(parts.store, caller);
    requireAllowed(parts.store);
    const passkey = await parts.passkeys.finishRegistration({
      ...{ userId: user.id, token: registrationToken, credentialJson, name },
      note: (tx) => noteAction(tx, caller, userKind, user, 'add_passkey'),
    });
    return { passkey: show(passkey) };
  };
}

function listPasskeys({ store }: Uses<'store'>): Method<typeof PasskeyService, 'listPasskeys'> {
  return (_request, context) => {
    const user = requireUser(store, callerOf(context));
    const credential = store.get(credentials, user.id);
    const secondFactor = credential?.passkeySecondFactor === true;
    return { items: passkeysOf(credential).map(show), secondFactor };
  };
}

function renamePasskey(parts: Uses<'store'>): Method<typeof PasskeyService, 'renamePasskey'> {
  return async ({ id, name }, context) => {
    requireText(name.trim(), 'name');
    const renamed = await change(parts, callerOf(context), id, 'rename_passkey', (one) => ({
      ...one,
      name: name.trim(),
    }));
    return { passkey: show(renamed) };
  };
}

function removePasskey(parts: Uses<'store'>): Method<typeof PasskeyService, 'removePasskey'> {
  return async ({ id }, context) => {
    await change(parts, callerOf(context), id, 'remove_passkey', () => null);
    return { removed: true };
  };
}

function setSecondFactor(
  parts: Uses<'store' | 'signIn'>,
): Method<typeof PasskeyService, 'setPasskeySecondFactor'> {
  return async ({ enabled, currentPassword }, context) => {
    const caller = callerOf(context);
    const user = requireUser(parts.store, caller);
    requireText(currentPassword, 'currentPassword');
    if (!(await parts.signIn.confirm(user.id, currentPassword, caller.address))) {
      throw refusal('permission_denied', 'currentPassword: is wrong');
    }
    await parts.store.write((tx) => {
      const { passkeySecondFactor: _before, ...credential } = tx.get(credentials, user.id)!;
      if (enabled && passkeysOf(credential).length === 0) {
        throw refusal('failed_precondition', 'enabled: needs a passkey; add one first');
      }
      tx.put(credentials, enabled ? { ...credential, passkeySecondFactor: true } : credential);
      const action = enabled ? 'enable_passkey_factor' : 'disable_passkey_factor';
      noteAction(tx, caller, userKind, user, action);
    });
    return { enabled };
  };
}

function beginSignIn(
  parts: Uses<'store' | 'passkeys'>,
): Method<typeof PasskeyService, 'beginPasskeySignIn'> {
  return async (_request, context) => {
    const place = placeOf(parts.store, context);
    const address = context.values.get(addressKey);
    const { token, optionsJson, expiresAtMs } = await parts.passkeys.beginSignIn(place, address);
    return { signInToken: token, optionsJson, expiresAt: timestampFromMs(expiresAtMs) };
  };
}

function finishSignIn(parts: Parts): Method<typeof PasskeyService, 'finishPasskeySignIn'> {
  return async ({ signInToken, credentialJson, remember }, context) => {
    requireAllowed(parts.store);
    const address = context.values.get(addressKey);
    const proof = await parts.passkeys.finishSignIn(signInToken, credentialJson, address);
    return beginSession(parts, context, proof, { method: 'passkey', remember });
  };
}

/** Replaces one passkey of the caller, or removes it for null; returns it as it was or is. */
function change(
  { store }: Uses<'store'>,
  caller: Caller,
  id: string,
  action: string,
  next: (passkey: PasskeyRecord) => PasskeyRecord | null,
): Promise<PasskeyRecord> {
  const user = requireUser(store, caller);
  return store.write((tx) => {
    const credential = tx.get(credentials, user.id);
    const present = passkeysOf(credential);
    const found = present.find((one) => one.id === id);
    if (credential === undefined || found === undefined) throw notFound('passkey', id);
    const changed = next(found);
    // An open session must not take away the second factor.
    if (changed === null && credential.passkeySecondFactor === true && present.length === 1) {
      throw refusal(
        'failed_precondition',
        'the last passkey is asked for after the password: switch that off first',
      );
    }
    const passkeys = present.flatMap((one) =>
      one !== found ? [one] : changed === null ? [] : [changed],
    );
    tx.put(credentials, { ...credential, passkeys });
    noteAction(tx, caller, userKind, user, action);
    return changed ?? found;
  });
}

/** Errors: failed_precondition where passkeys are off or the browser has none. */
function placeOf(store: ReadStore, context: HandlerContext): ConsolePlace {
  const values = requireAllowed(store);
  return consolePlace(context.requestHeader.get('origin') ?? '', publicUrlOf(values));
}

/** Passkeys would pass by what the deployment asks for. Errors: failed_precondition. */
function requireAllowed(store: ReadStore): Readonly<Record<string, unknown>> {
  const values = store.get(systemSettings, settingsId)?.values ?? {};
  if (passkeysAllowed(values)) return values;
  throw refusal(
    'failed_precondition',
    'passkeys are off: people sign in by RADIUS or by an identity provider only',
  );
}

function show({ id, name, createdAt, lastUsedAt, host, synced }: PasskeyRecord): Passkey {
  return create(PasskeySchema, {
    ...{ id, name, host, synced },
    createdAt: timestampFromDate(new Date(createdAt)),
    ...(lastUsedAt === '' ? {} : { lastUsedAt: timestampFromDate(new Date(lastUsedAt)) }),
  });
}
