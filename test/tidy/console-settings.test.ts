/**
 * The proof that the console has a form for each setting of the deployment, with the choices and
 * the standard values that the service has: pages know nothing of the service but its API.
 */

import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { settingGroups, settingLists } from '../../control/console/pages/setting-groups.ts';
import type { SettingField } from '../../control/console/pages/setting-values.ts';
import { aiKey, aiSettingsOf } from '../../control/domain/settings/ai-settings.ts';
import { consoleHostKey } from '../../control/domain/settings/console-settings.ts';
import {
  identityKeys,
  oidcProvidersOf,
  radiusOf,
  samlProvidersOf,
} from '../../control/domain/settings/identity-settings.ts';
import { checkSettings, settings } from '../../control/domain/settings/settings.ts';
import { siemTargetsKey, siemTargetsOf } from '../../control/domain/settings/siem-settings.ts';
import { verifiersKey, verifiersOf } from '../../control/domain/site/bot-verifiers.ts';
import { acmeKey, acmeSettingsOf } from '../../control/domain/site/acme.ts';
import { siteOptions } from '../../control/domain/site/site-choices.ts';

const inGroups = settingGroups.flatMap(({ fields }) => fields);

/** Fields of lists, their paths from the key on; entries of lists are 0. */
const all: readonly SettingField[] = [
  ...inGroups,
  ...settingLists.flatMap(({ key, fields }) =>
    fields.map((field) => ({ ...field, path: [key, '0', ...field.path] })),
  ),
];

/** The values that hold a value at a path. */
function valuesWith([name = '', ...inner]: readonly string[], value: JsonValue): JsonValue {
  const held = inner.length === 0 ? value : valuesWith(inner, value);
  return name === '0' ? [held] : { [name]: held };
}

/** What the service fills in where nothing is set, by key. */
const filledIn: Readonly<Record<string, object | null | undefined>> = {
  [aiKey]: aiSettingsOf({}),
  [acmeKey]: acmeSettingsOf({}),
  [identityKeys.radius]: radiusOf({ [identityKeys.radius]: { enabled: true } }),
  [identityKeys.oidc]: oidcProvidersOf({ [identityKeys.oidc]: [{}] })[0],
  [identityKeys.saml]: samlProvidersOf({ [identityKeys.saml]: [{}] })[0],
  [siemTargetsKey]: siemTargetsOf({ [siemTargetsKey]: [{ format: 'ecs' }] })[0],
  [verifiersKey]: verifiersOf({ [verifiersKey]: [{ kind: 'turnstile' }] })[0],
};
/** What those values are not filled in, but made of others. */
const made = new Set([
  'auth.radius.config.enabled',
  'siem.targets.0.format',
  'siem.targets.0.events',
]);
for (const name of ['kind', 'scriptUrl', 'verifyUrl']) made.add(`${verifiersKey}.0.${name}`);

test('every setting of the deployment has a form in the console', () => {
  const shown = new Set([consoleHostKey, ...all.map(({ path }) => path[0])]);
  expect(settings.map(({ key }) => key).filter((key) => !shown.has(key))).toEqual([]);
  expect([...shown].filter((key) => !settings.some((one) => one.key === key))).toEqual([]);
});

test('a form offers the choices that the service allows', () => {
  const choosing = all.filter(({ choices }) => choices !== undefined);
  expect(choosing.length).toBeGreaterThan(10);
  for (const { path, choices = [] } of choosing) {
    const values = valuesWith(path, 'no such choice') as JsonObject;
    const allowed = refusal(() => checkSettings(values)).replace(/^.*must be one of /s, '');
    expect(allowed.split(', ').sort(), path.join('.')).toEqual(choices.map(([one]) => one).sort());
  }
});

test('every field of a setting that is an object has its place, and shows what holds', () => {
  for (const [key, filled] of Object.entries(filledIn)) {
    const fields = all.filter(({ path }) => path[0] === key);
    const names = fields.map(({ path }) => path.at(-1)!);
    expect(names.sort(), key).toEqual(Object.keys(filled ?? {}).sort());
    for (const { path, standard } of fields) {
      if (made.has(path.join('.'))) continue;
      expect(Reflect.get(filled ?? {}, path.at(-1)!), path.join('.')).toEqual(standard);
    }
  }
});

test('every other field shows what holds while nothing is set', () => {
  const plain = inGroups.filter(({ path }) => path.length === 1);
  expect(plain.length).toBeGreaterThan(8);
  for (const { path, standard } of plain) {
    expect(settings.find(({ key }) => key === path[0])?.standard, path[0]).toEqual(standard);
  }
  for (const { key, choices } of siteOptions) {
    expect(inGroups.find(({ path }) => path[0] === key)?.standard, key).toBe(choices[0]);
  }
});

function refusal(run: () => void): string {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return '';
}
