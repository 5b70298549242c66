/** The page that asks who is there: password, a second factor, a passkey, or another provider. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { GetLoginOptionsResponse } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { messageOf, never, useCall } from '../call.ts';
import { hasPasskeys } from '../passkeys.ts';
import {
  answerChallenge,
  auth,
  challengePrompt,
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
  const challenge = session.value === 'challenge';
  const begin = (step: Promise<void>): void => {
    setBusy(true);
    setError('');
    step.catch((thrown: unknown) => setError(messageOf(thrown))).finally(() => setBusy(false));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    begin(challenge ? answerChallenge(code) : signIn(name, password));
  };
  return (
    <form class="sign-in card" aria-label={t('signIn.title')} onSubmit={submit}>
      <h1>{t('signIn.title')}</h1>
      {challenge ? (
        <label>
          {said(challengePrompt.value) || t('signIn.code')}
          <input
            autoFocus
            autoComplete="one-time-code"
            value={code}
            onInput={({ currentTarget }) => setCode(currentTarget.value)}
          />
        </label>
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
        {challenge ? t('signIn.continue') : t('signIn.submit')}
      </button>
      <OtherWays options={options.value} busy={busy} begin={begin} />
      {!challenge && <p class="quiet">{t('signIn.first')}</p>}
    </form>
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
