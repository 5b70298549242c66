/** What a browser does with passkeys: makes one for the account, signs with one. */

import { t } from './text/text.ts';

/** Whether this browser has passkeys: they need HTTPS, or localhost. */
export const hasPasskeys =
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function';

/** Makes a passkey. Errors: one whose message is for the person. */
export async function makePasskey(optionsJson: string): Promise<string> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(parsed(optionsJson));
  return asJson(await navigator.credentials.create({ publicKey }).catch(explain));
}

/** Signs with a passkey. Errors: one whose message is for the person. */
export async function signByPasskey(optionsJson: string): Promise<string> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(parsed(optionsJson));
  return asJson(await navigator.credentials.get({ publicKey }).catch(explain));
}

function parsed<T>(optionsJson: string): T {
  return JSON.parse(optionsJson) as T;
}

function asJson(credential: Credential | null): string {
  if (credential === null) throw new Error(t('passkey.none'));
  return JSON.stringify(credential);
}

/** Browsers do not say whether the person gave up or nothing fits: that would tell too much. */
function explain(error: unknown): never {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') throw new Error(t('passkey.known'));
  if (name === 'NotAllowedError') throw new Error(t('passkey.none'));
  throw error;
}
