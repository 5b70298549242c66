/** The page that asks who is there: password, a second factor, a passkey, or another provider. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { GetLoginOptionsResponse } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { messageOf, never, useCall } from '../call.ts';
import { hasPasskeys } from '../passkeys.ts';
import {
  answerByPasskey,
  answerChallenge,
  auth,
  challenge,
  session,
  signIn,
  signInByPasskey,
} from '../session.ts';
import { said } from '../text/sentences.ts';
import { t } from '../text/text.ts';

/** The forms of sign-in. */
export function SignIn(): JSX.Element {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const options = useCall('options', (signal) => auth.getLoginOptions({}, { signal }), never);
  const asked = session.value === 'challenge' ? challenge.value : null;
  const begin = (step: Promise<void>): void => {
    setBusy(true);
    setError('');
    step.catch((thrown: unknown) => setError(messageOf(thrown))).finally(() => setBusy(false));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (asked?.code === false) begin(answerByPasskey());
    else begin(asked === null ? signIn(name, password) : answerChallenge(code));
  };
  return (
    <form class="sign-in card" aria-label={t('signIn.title')} onSubmit={submit}>
      <h1>{t('signIn.title')}</h1>
      {asked !== null ? (
        <SecondStep byCode={asked.code} prompt={asked.prompt} value={code} onTyped={setCode} />
      ) : (
        <>
          <label>
            {t('signIn.name')}
            <input
              autoFocus
              autoComplete="username"
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <label>
            {t('signIn.password')}
            <input
              type="password"
              autoComplete="current-password"
              value={password}
              onInput={({ currentTarget }) => setPassword(currentTarget.value)}
            />
          </label>
        </>
      )}
      {error !== '' && (
        <p class="notice" role="alert">
          {said(error)}
        </p>
      )}
      <button class="primary" disabled={busy}>
        {asked === null ? t('signIn.submit') : t('signIn.continue')}
      </button>
      {asked === null && <OtherWays options={options.value} busy={busy} begin={begin} />}
      {asked?.code === true && asked.passkey && hasPasskeys && (
        <button type="button" disabled={busy} onClick={() => begin(answerByPasskey())}>
          {t('signIn.passkeyInstead')}
        </button>
      )}
      {asked === null && <p class="quiet">{t('signIn.first')}</p>}
    </form>
  );
}

/** What is asked for after the password. */
function SecondStep({
  byCode,
  prompt,
  value,
  onTyped,
}: {
  readonly byCode: boolean;
  readonly prompt: string;
  readonly value: string;
  readonly onTyped: (code: string) => void;
}): JSX.Element {
  if (!byCode) return <p>{t('signIn.passkeyAsked')}</p>;
  return (
    <label>
      {said(prompt) || t('signIn.code')}
      <input
        autoFocus
        autoComplete="one-time-code"
        value={value}
        onInput={({ currentTarget }) => onTyped(currentTarget.value)}
      />
    </label>
  );
}

/** Ways in without a password here. */
function OtherWays({
  options,
  busy,
  begin,
}: {
  readonly options: GetLoginOptionsResponse | null;
  readonly busy: boolean;
  readonly begin: (step: Promise<void>) => void;
}): JSX.Element {
  return (
    <>
      {hasPasskeys && options?.passkeyEnabled === true && (
        <button type="button" disabled={busy} onClick={() => begin(signInByPasskey())}>
          {t('signIn.passkey')}
        </button>
      )}
      {options?.providers.map(({ id, label, loginUrl }) => (
        <a key={id} class="button" href={loginUrl}>
          {label}
        </a>
      ))}
    </>
  );
}
