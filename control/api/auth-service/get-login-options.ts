/** AuthService/GetLoginOptions. */

import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import {
  oidcProvidersOf,
  passkeysAllowed,
  passwordEnabledOf,
  publicUrlOf,
  radiusOf,
  samlProvidersOf,
} from '../../domain/settings/identity-settings.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import type { Method } from '../method.ts';

/** Name and password, passkeys, and the providers that browsers can be sent to. */
export function getLoginOptions(
  parts: Uses<'store'>,
): Method<typeof AuthService, 'getLoginOptions'> {
  return () => {
    const values = parts.store.get(systemSettings, settingsId)?.values ?? {};
    const publicUrl = publicUrlOf(values);
    const show = (kind: string, { id, label }: { id: string; label: string }) => ({
      id: `${kind}:${id}`,
      label,
      loginUrl: `${publicUrl}/auth/${kind}/${id}/login`,
    });
    const providers = [
      ...oidcProvidersOf(values).map((one) => show('oidc', one)),
      ...samlProvidersOf(values).map((one) => show('saml', one)),
    ];
    const passwordEnabled = passwordEnabledOf(values) || radiusOf(values)?.use === 'password';
    // Without an address of our own, no provider could send a browser back.
    const passkeyEnabled = passkeysAllowed(values);
    return { passwordEnabled, passkeyEnabled, providers: publicUrl === '' ? [] : providers };
  };
}
