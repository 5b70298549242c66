/** Owns applying User and DnsProvider documents. */

import { AppError } from '../../../base/errors.ts';
import { keepAdministrator } from '../../auth/administrators.ts';
import { dropIdentities } from '../../auth/external-accounts.ts';
import { checkDnsCredentials, checkDnsProvider } from '../../domain/site/dns-providers.ts';
import { refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import type { DnsProviderRecord } from '../../domain/resource-records.ts';
import {
  dnsSpec,
  readDnsSpec,
  readUserSpec,
  userSpec,
} from '../../publish/manifests/manifest-accounts.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { credentials, dnsCredentials, dnsProviders, users } from '../../store/collections.ts';
import {
  dnsProviderNote,
  refuseMoreDnsProviders,
  refuseSameDnsName,
} from '../cert-service/stored-dns-provider.ts';
import { endSessions, userNote } from '../user-service/stored-user.ts';
import { refuseStronger } from '../user-service/stored-user.ts';
import { checkRoles, checkUser } from '../user-service/write-users.ts';
import type { NamedKind } from './apply-named.ts';
import type { ApplyRun } from './context.ts';

/** Users, without passwords and second factors. */
export const userKind: NamedKind<UserRecord> = {
  reference: 'user',
  collection: users,
  prefix: 'user',
  permission: 'user:write',
  nameOf: ({ username }) => username,
  specOf: (user, { references }) => userSpec(user, references),
  settle: ({ tx, caller, references }, document, before, base) => {
    if (before !== null) refuseStronger(tx, caller, before);
    const stated = readUserSpec(document, references);
    const record: UserRecord = {
      ...before,
      ...base,
      ...stated,
      username: document.name.trim(),
      roleIds: [...new Set(stated.roleIds)],
      externalProviders: [...new Set(stated.externalProviders)],
    };
    if (record.locked && before?.id === caller.userId) {
      throw refusal('failed_precondition', 'spec.locked: nobody can lock the own user');
    }
    checkUser(tx, record);
    checkRoles(tx, caller, record.roleIds, 'spec.roles');
    return record;
  },
  keepMore: keepUser,
  noteOf: ({ caller }, record) => userNote(caller, record),
};

function keepUser(
  run: ApplyRun,
  record: UserRecord,
  before: UserRecord | null,
  { where }: ManifestDocument,
): void {
  const { tx, caller } = run;
  if (before === null) {
    const fresh = { failedAttempts: 0, lockedUntil: '', sessionEpoch: 1 };
    tx.put(credentials, { id: record.id, passwordHash: '', ...fresh });
    if (record.externalProviders?.length === 0) {
      run.warn(
        `${where}: a password is a secret that no manifest holds: waf user password ` +
          record.username,
      );
    }
    return;
  }
  dropIdentities(tx, record);
  const decisive = ({ roleIds, externalProviders = [], locked }: UserRecord): string =>
    JSON.stringify([[...roleIds].sort(), [...externalProviders].sort(), locked]);
  if (decisive(before) === decisive(record)) return;
  keepAdministrator(tx, caller.tenantId);
  endSessions(tx, record.id);
}

/** Accounts at DNS providers; their credentials are written only. */
export const dnsKind: NamedKind<DnsProviderRecord> = {
  reference: 'DNS provider',
  collection: dnsProviders,
  prefix: 'dns',
  permission: 'cert:write',
  nameOf: ({ name }) => name,
  specOf: dnsSpec,
  settle: ({ tx, caller }, document, before, base) => {
    const { account, credentialsJson } = readDnsSpec(document);
    const checked = inSpec(() => checkDnsProvider(account));
    if (before === null) refuseMoreDnsProviders(tx, caller);
    else if (before.provider !== checked.provider && credentialsJson === null) {
      throw refusal('invalid_argument', 'spec.credentials: is required: the provider changes');
    }
    const known = before !== null && credentialsJson === null;
    const health = known ? {} : { health: 'unknown', lastError: '' };
    const record = { ...before, ...base, ...checked, ...health };
    refuseSameDnsName(tx, caller, record);
    return record;
  },
  bringsMore: (document) => readDnsSpec(document).credentialsJson !== null,
  keepMore: ({ tx, warn }, { id }, _before, document) => {
    const { credentialsJson } = readDnsSpec(document);
    if (credentialsJson !== null) {
      const bytes = new TextEncoder().encode(credentialsJson);
      tx.put(dnsCredentials, {
        id,
        credentialsJson: inSpec(() => checkDnsCredentials(bytes)),
      });
    } else if (tx.get(dnsCredentials, id) === undefined) {
      warn(
        `${document.where}: spec.credentials: are a secret that no manifest holds; certificates ` +
          'that need them fail until they are set: waf cert dns-update --credentials FILE',
      );
    }
  },
  noteOf: ({ caller }, record) => dnsProviderNote(caller, record),
};

/** Runs a check whose errors begin with the field, and names the field of the document. */
function inSpec<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const text = error.message.replace(/^credentialsJson:/, 'credentials:');
    const field = text.startsWith('name:') ? `metadata.${text}` : `spec.${text}`;
    throw new AppError(error.code, field, { source: error.source, cause: error });
  }
}
