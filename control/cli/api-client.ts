/** The way to the management API: the local socket, or a remote base URL with a token. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates, type SecureContextOptions } from 'node:tls';
import {
  createRegistry,
  type DescMessage,
  type DescService,
  type Message,
  type Registry,
} from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  createClient,
  type Client,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { AppError } from '../../base/errors.ts';
import { commandLineLimits } from '../limits/command-limits.ts';
import { PasskeyService } from '../../proto/gen/waf/access/v1/passkey_pb.ts';
import { SessionService } from '../../proto/gen/waf/access/v1/session_pb.ts';
import { TokenService } from '../../proto/gen/waf/access/v1/token_pb.ts';
import { EvidenceKeyService } from '../../proto/gen/waf/evidence/v1/evidence_key_pb.ts';
import { LearningService } from '../../proto/gen/waf/learning/v1/learning_pb.ts';
import { ReplayService } from '../../proto/gen/waf/replay/v1/replay_pb.ts';
import { AgentGroupService } from '../../proto/gen/waf/v1/agent_group_pb.ts';
import { AgentService } from '../../proto/gen/waf/v1/agent_pb.ts';
import { AIService } from '../../proto/gen/waf/v1/ai_pb.ts';
import { AlertService } from '../../proto/gen/waf/v1/alert_pb.ts';
import { ApiSchemaService } from '../../proto/gen/waf/v1/api_schema_pb.ts';
import { AuditService } from '../../proto/gen/waf/v1/audit_pb.ts';
import { AuthService } from '../../proto/gen/waf/v1/auth_pb.ts';
import { CertService } from '../../proto/gen/waf/v1/cert_pb.ts';
import { CustomRuleService } from '../../proto/gen/waf/v1/custom_rule_pb.ts';
import { IpListService } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import { RuleOverrideService } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import { ShadowService } from '../../proto/gen/waf/shadow/v1/shadow_pb.ts';
import { GuardService } from '../../proto/gen/waf/guard/v1/guard_pb.ts';
import { CountryAccessService } from '../../proto/gen/waf/v1/country_access_pb.ts';
import { CrsService } from '../../proto/gen/waf/v1/crs_pb.ts';
import { LogService } from '../../proto/gen/waf/v1/log_pb.ts';
import { OperationControlService } from '../../proto/gen/waf/v1/operation_control_pb.ts';
import { PolicyService } from '../../proto/gen/waf/v1/policy_pb.ts';
import { RateLimitService } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import { RoleService } from '../../proto/gen/waf/v1/role_pb.ts';
import { SiteService } from '../../proto/gen/waf/v1/site_pb.ts';
import { SystemService } from '../../proto/gen/waf/v1/system_pb.ts';
import { TrustService } from '../../proto/gen/waf/v1/trust_pb.ts';
import { UpstreamService } from '../../proto/gen/waf/v1/upstream_pb.ts';
import { UserService } from '../../proto/gen/waf/v1/user_pb.ts';
import { storedSession } from './auth-session.ts';
import type { GlobalOptions } from './global-options.ts';

/** The services that commands call. */
const services = {
  sites: SiteService,
  policies: PolicyService,
  ruleOverrides: RuleOverrideService,
  customRules: CustomRuleService,
  crs: CrsService,
  logs: LogService,
  system: SystemService,
  upstreams: UpstreamService,
  certs: CertService,
  agents: AgentService,
  agentGroups: AgentGroupService,
  ipLists: IpListService,
  guards: GuardService,
  shadows: ShadowService,
  countries: CountryAccessService,
  rateLimits: RateLimitService,
  trust: TrustService,
  auth: AuthService,
  users: UserService,
  sessions: SessionService,
  passkeys: PasskeyService,
  tokens: TokenService,
  roles: RoleService,
  audit: AuditService,
  ai: AIService,
  alerts: AlertService,
  replay: ReplayService,
  learning: LearningService,
  evidenceKeys: EvidenceKeyService,
  apiSchemas: ApiSchemaService,
  operationControls: OperationControlService,
};

/** A client of each. */
export type ApiClient = { readonly [K in keyof typeof services]: Client<(typeof services)[K]> };

/**
 * Makes a client; nothing is sent before the first call. `warn` gets the warnings of answers, each
 * once. Errors: AppError bad_flag.
 */
export function createApiClient(
  options: GlobalOptions,
  warn: (warning: string) => void = () => undefined,
): ApiClient {
  const transport = openTransport(options, [...identify(options), warnings(warn)]);
  const clients = Object.entries(services).map(([name, service]) => [
    name,
    createClient(service as DescService, transport),
  ]);
  return Object.fromEntries(clients) as ApiClient;
}

let registry: Registry | undefined;

/** What a message that the API answered is. */
export function schemaOf({ $typeName }: Message): DescMessage {
  registry ??= createRegistry(...Object.values(services).map(({ file }) => file));
  const found = registry.getMessage($typeName);
  if (found === undefined) throw new Error(`no service of the API has ${$typeName}`);
  return found;
}

/**
 * The way to the API, which says who calls only as far as `interceptors` do. A connection a call:
 * one that is kept may be closed by the server while this program reads a large file.
 */
export function openTransport(options: GlobalOptions, interceptors: Interceptor[]): Transport {
  const remote = options.api !== undefined;
  return createConnectTransport({
    baseUrl: remote ? readBaseUrl(options.api) : 'http://localhost',
    httpVersion: '1.1',
    useBinaryFormat: false,
    defaultTimeoutMs: commandLineLimits.callTimeoutMs,
    interceptors,
    nodeOptions: {
      agent: false,
      ...(remote ? trust(options) : { socketPath: options.adminSocket }),
    },
  });
}

/** The socket needs nobody's name; elsewhere a token goes before the session of `auth login`. */
function identify(options: GlobalOptions): Interceptor[] {
  if (options.token !== undefined) return [bearer(options.token)];
  if (options.api === undefined) return [];
  const api = readBaseUrl(options.api);
  return [storedSession(options.credentials, api, openTransport(options, []))];
}

/**
 * Which certificates are believed: public ones, those of --ca-file, and those of the installation
 * in the data folder. Errors: AppError bad_flag.
 */
function trust({ caFile, insecure, data }: GlobalOptions): SecureContextOptions & {
  rejectUnauthorized?: boolean;
} {
  if (insecure) return { rejectUnauthorized: false };
  const own = join(data, 'tls', 'ca.pem');
  if (caFile === undefined && !existsSync(own)) return {};
  try {
    return { ca: [...rootCertificates, readFileSync(caFile ?? own, 'utf8')] };
  } catch {
    throw badFlag(`--ca-file: ${caFile ?? own} cannot be read`);
  }
}

/** The base URL of --api as sessions are kept under it. Errors: AppError bad_flag. */
export function readBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw badFlag('--api wants a URL such as https://waf.example:9443');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badFlag('--api wants http(s)');
  return url.href.replace(/\/$/, '');
}

function badFlag(message: string): AppError {
  return new AppError('bad_flag', message, { source: 'config' });
}

/** Hands on the field `warnings` of answers, whatever the method. */
function warnings(warn: (warning: string) => void): Interceptor {
  const said = new Set<string>();
  return (next) => async (request) => {
    const response = await next(request);
    if (response.stream) return response;
    const { warnings: found } = response.message as { readonly warnings?: unknown };
    for (const one of Array.isArray(found) ? (found as unknown[]) : []) {
      if (typeof one !== 'string' || said.has(one)) continue;
      said.add(one);
      warn(one);
    }
    return response;
  };
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set('Authorization', `Bearer ${token}`);
    return next(request);
  };
}

/** What to do about an error, by code, where its message cannot know. */
const nextSteps: Readonly<Record<string, string>> = {
  unauthenticated: 'sign in with waf auth login, or give --token',
  permission_denied: 'waf auth permissions lists what you hold',
  aborted: 'read it again, compare, then repeat',
  unavailable: 'try again in a while',
  unimplemented: 'this version cannot do it',
};

/** Turns a failed call into a sentence with what to do next; other errors pass as they are. */
export function explainCallError(error: unknown, options: GlobalOptions): unknown {
  if (!(error instanceof ConnectError)) return error;
  const where = options.api ?? options.adminSocket;
  const name = Code[error.code].replace(
    /[A-Z]/g,
    (one, at: number) => (at === 0 ? '' : '_') + one.toLowerCase(),
  );
  const next = nextSteps[name];
  let message = `${name}: ${error.rawMessage}${next === undefined ? '' : ` (${next})`}`;
  if (isUntrusted(error)) {
    message =
      `the certificate of ${where} is not trusted: give --ca-file with its authority ` +
      '(an installation keeps its own in <data>/tls/ca.pem)';
  }
  if (isUnreachable(error)) message = `nobody answers at ${where}: is waf run running?`;
  return new AppError(name, message, { source: 'client', cause: error });
}

/** OpenSSL's reasons, as Node names them. */
function isUntrusted(error: ConnectError): boolean {
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code);
}

function isUnreachable(error: ConnectError): boolean {
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  return ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ECONNRESET'].includes(code);
}
