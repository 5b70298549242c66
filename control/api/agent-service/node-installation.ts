/**
 * AgentService/CreateNodeInstallation: a fresh token in commands that are ready to paste. The
 * secret stands in them and nowhere else. What comes from outside is quoted for the shell.
 */

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { releaseKeysOf } from '../../domain/release/releases.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { fingerprintOf } from '../node-service/renew-identity.ts';
import { issueToken } from './enrollment-tokens.ts';

/** Where an installed node serves clients. */
const proxyHttpAddr = '0.0.0.0:80';
const proxyHttpsAddr = '0.0.0.0:443';

/** Commands that install and enroll a node. */
export function createNodeInstallation(
  parts: Uses<'store' | 'clock' | 'managementAuthority'>,
): Method<typeof AgentService, 'createNodeInstallation'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const controllerUrl = checkUrl(request.controllerUrl);
    const { token, record } = await issueToken(parts, caller, request);
    const pem = parts.managementAuthority();
    const authority = pem === '' ? '' : fingerprintOf(pem);
    const releaseKeys = releaseKeysOf(parts.store.get(systemSettings, settingsId)?.values ?? {});
    const keys = releaseKeys.map(({ text }) => text);
    const facts = { controllerUrl, token, authority, keys };
    const script = scriptFor(facts, true);
    const foregroundScript = scriptFor(facts, false);
    return {
      command: commandFor(script),
      foregroundCommand: commandFor(foregroundScript),
      script,
      foregroundScript,
      tokenId: record.id,
      expiresAt: timestampFromDate(new Date(record.expiresAt)),
      controllerUrl,
      platform: `${process.platform}-${process.arch}`,
      tags: [...record.tags],
      maxNodes: record.maxNodes,
      proxyHttpAddr,
      proxyHttpsAddr,
    };
  };
}

interface InstallFacts {
  readonly controllerUrl: string;
  readonly token: string;
  /** SHA-256 of the management listener's own authority; '' for a public one. */
  readonly authority: string;
  /** Whose releases the node takes: by the operator's hand, not by the controller's word. */
  readonly keys: readonly string[];
}

/** Errors: invalid_argument. */
function checkUrl(text: string): string {
  const field = 'controllerUrl';
  if (text === '') throw invalidField(field, 'is required: nodes reach the controller by it');
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalidField(field, 'must be a URL such as https://waf.example:9080');
  }
  if (url.protocol !== 'https:') throw invalidField(field, 'must begin with https://');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw invalidField(field, 'must have no user, query or fragment');
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * The program comes from the controller. Before its authority is checked by its hash, nothing
 * secret is sent and nothing that came is run.
 */
export function scriptFor(facts: InstallFacts, service: boolean): string {
  const { controllerUrl, token, authority, keys } = facts;
  const pin = authority === '' ? '' : ` --ca-sha256 ${authority}`;
  const trusts = keys.map((key) => ` --release-key ${quote(key)}`).join('');
  const from = quote(controllerUrl);
  const trust =
    authority === ''
      ? ['trusted=']
      : [
          `curl -fsS --insecure -o "$work/found.pem" ${quote(`${controllerUrl}/bootstrap/ca.pem`)}`,
          `printf '%s  -\\n' ${authority} > "$work/sum"`,
          'sed "1d;/^-----END/,\\$d" "$work/found.pem" | base64 -d > "$work/ca.der"',
          'sha256sum -c "$work/sum" < "$work/ca.der" > /dev/null',
          // Only what was compared is trusted, not what else came with it.
          'pem() { echo "-----$1 CERTIFICATE-----"; }',
          '{ pem BEGIN; base64 "$work/ca.der"; pem END; } > "$work/ca.pem"',
          'trusted="--cacert $work/ca.pem"',
        ];
  const enroll = `agent enroll --controller ${from}${pin}${trusts}`;
  // In the environment: other users of the machine can read command lines.
  const secret = `WAF_TOKEN=${quote(token)}`;
  const run = service
    ? [
        '"$work/waf/waf" install --node',
        `${secret} runuser -u waf -- /opt/waf/current/waf ${enroll} --data /var/lib/waf`,
      ]
    : [`${secret} "$work/waf/waf" ${enroll} --data "$PWD/waf-node"`];
  const start = service
    ? ['systemctl enable --now waf-node.service']
    : ['exec "$work/waf/waf" agent run --data "$PWD/waf-node"'];
  return `${[
    '#!/bin/sh',
    'set -eu',
    'umask 077',
    'work=$(mktemp -d)',
    ...(service ? [`trap 'rm -rf "$work"' EXIT`] : []),
    ...trust,
    `curl -fsS $trusted -o "$work/waf.tar.gz" ${quote(`${controllerUrl}/download/waf`)}`,
    'mkdir "$work/waf"',
    'tar -xzf "$work/waf.tar.gz" -C "$work/waf" --strip-components=1',
    ...run,
    ...start,
  ].join('\n')}\n`;
}

/** What runs a script when it is pasted; the script does not become part of a command line. */
function commandFor(script: string): string {
  return `sh <<'WAF_INSTALL'\n${script}WAF_INSTALL`;
}

/** A word for the shell, whatever it holds. */
function quote(text: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
