/** The permission codes, the built-in roles, and whether a caller meets a rule. */

import { refusal } from '../domain/errors.ts';

/** Satisfies every check; reserved for the built-in Administrator. */
export const superadmin = 'waf:superadmin';

/** Every permission code that a role can hold, with what it allows. */
export const permissionCodes: readonly (readonly [code: string, description: string])[] = [
  ['site:read', 'See sites'],
  ['site:write', 'Create and change sites'],
  ['site:delete', 'Remove sites'],
  ['site:preview', 'See what the data plane would be given'],
  ['upstream:read', 'See upstream pools'],
  ['upstream:write', 'Create and change upstream pools'],
  ['upstream:delete', 'Remove upstream pools'],
  ['policy:read', 'See policies, rules and lists'],
  ['policy:write', 'Create and change policies'],
  ['policy:delete', 'Remove policies'],
  ['policy:preview', 'Render policies'],
  ['policy:test', 'Run requests against policies'],
  ['policy:crs:write', 'Move policies to another ruleset'],
  ['policy:rule:override', 'Override single rules'],
  ['policy:custom:write', 'Create and change custom rules'],
  ['policy:custom:seclang', 'Write custom rules as SecLang'],
  ['policy:iplist:write', 'Create and change IP lists'],
  ['policy:iplist:source:write', 'Change where IP lists are fetched'],
  ['policy:iplist:sync', 'Fetch IP lists'],
  ['policy:country:write', 'Create and change country rules'],
  ['cert:read', 'See certificates'],
  ['cert:write', 'Upload certificates and change DNS accounts'],
  ['cert:issue', 'Issue and renew certificates'],
  ['cert:export', 'Export certificates and sites'],
  ['cert:delete', 'Remove certificates'],
  ['agent:read', 'See nodes'],
  ['agent:write', 'Change nodes'],
  ['agent:delete', 'Remove nodes'],
  ['agent:install', 'Enroll nodes'],
  ['agent_group:read', 'See node groups'],
  ['agent_group:write', 'Create and change node groups'],
  ['agent_group:delete', 'Remove node groups'],
  ['log:read', 'See events and evidence'],
  ['log:export', 'Export events'],
  ['telemetry:read', 'See telemetry'],
  ['api_inventory:write', 'Change the API catalog'],
  ['api_inventory:block', 'Enforce controls of the API catalog'],
  ['alert:read', 'See alerts'],
  ['alert:ack', 'Acknowledge alerts'],
  ['alert:resolve', 'Resolve alerts'],
  ['alert:write', 'Change alert rules, channels and silences'],
  ['ai:read', 'See suggestions'],
  ['ai:propose', 'Draft and reject suggestions'],
  ['ai:apply', 'Carry suggestions out'],
  ['audit:read', 'See the audit log'],
  ['audit:verify', 'Verify the audit log'],
  ['user:read', 'See users'],
  ['user:write', 'Create and change users'],
  ['user:delete', 'Remove users'],
  ['role:read', 'See roles'],
  ['role:write', 'Create and change roles'],
  ['role:delete', 'Remove roles'],
  ['system:read', 'See settings and health'],
  ['system:write', 'Change settings'],
  ['system:apply', 'Apply manifests'],
  ['system:update:read', 'See releases and rulesets'],
  ['system:update:write', 'Import releases, rulesets and data sets'],
  ['system:update:apply', 'Roll releases out'],
  [superadmin, 'Everything'],
];

/** A role that comes with the product. */
export interface BuiltInRole {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
}

const ordinary = permissionCodes.map(([code]) => code).filter((code) => code !== superadmin);
const readCodes = ordinary.filter((code) => code.endsWith(':read') || code === 'audit:verify');
const operatorAreas = ['site:', 'upstream:', 'policy:', 'log:', 'telemetry:', 'api_inventory:'];
const operatorExtra = ['cert:read', 'agent:read', 'agent_group:read', 'alert:read', 'alert:ack'];

/** Administrator, Auditor, WAF Operator. */
export const builtInRoles: readonly BuiltInRole[] = [
  {
    id: 'role-administrator',
    name: 'Administrator',
    description: 'May do everything',
    permissions: [superadmin],
  },
  {
    id: 'role-auditor',
    name: 'Auditor',
    description: 'May see everything and change nothing',
    permissions: readCodes,
  },
  {
    id: 'role-waf-operator',
    name: 'WAF Operator',
    description: 'Tunes protection; no raw SecLang, alert channels, identity or platform',
    permissions: [
      ...ordinary.filter(
        (code) =>
          operatorAreas.some((area) => code.startsWith(area)) && code !== 'policy:custom:seclang',
      ),
      ...operatorExtra,
      'alert:resolve',
      'ai:read',
      'ai:propose',
      'system:read',
    ],
  },
];

/** The API token that a call came with. */
export interface CallingToken {
  readonly id: string;
  readonly name: string;
  readonly mayManageTokens: boolean;
  /** Only these sites; null for the whole deployment. */
  readonly siteIds: ReadonlySet<string> | null;
}

/** Who calls. */
export interface Caller {
  readonly userId: string;
  readonly username: string;
  readonly tenantId: string;
  readonly permissions: ReadonlySet<string>;
  /** Session of a signed-in user, or `token ID`; '' on the administration socket. */
  readonly sessionId: string;
  /** Address that the call came from; '' on the administration socket. */
  readonly address: string;
  /** Absent where a person calls. */
  readonly token?: CallingToken;
}

/** The rule of an RPC. */
export interface PermissionRule {
  readonly public: boolean;
  readonly anyPermission: readonly string[];
  readonly allPermission: readonly string[];
}

/** Errors: unauthenticated without a needed session, permission_denied without a permission. */
export function requirePermission(rule: PermissionRule, caller: Caller | null): void {
  if (rule.public) return;
  if (caller === null) throw refusal('unauthenticated', 'sign in, or send a valid bearer token');
  if (meets(rule, caller.permissions)) return;
  const needed = [...rule.anyPermission, ...rule.allPermission].join(', ');
  throw refusal('permission_denied', `this call needs ${needed}`);
}

/** Whether a set of permissions meets a rule; both lists must hold. */
export function meets(rule: PermissionRule, permissions: ReadonlySet<string>): boolean {
  if (permissions.has(superadmin)) return true;
  const any = rule.anyPermission;
  const holdsAny = any.length === 0 || any.some((code) => permissions.has(code));
  return holdsAny && rule.allPermission.every((code) => permissions.has(code));
}

/** What both sets allow; `waf:superadmin` stands for every permission. */
export function commonPermissions(
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
): ReadonlySet<string> {
  if (left.has(superadmin)) return right;
  if (right.has(superadmin)) return left;
  return new Set([...left].filter((code) => right.has(code)));
}
