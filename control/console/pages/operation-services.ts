/** Which file holds the descriptor of which service; each is loaded when it is chosen. */

import type { DescService } from '@bufbuild/protobuf';

const services: Readonly<Record<string, () => Promise<DescService>>> = {
  PasskeyService: async () =>
    (await import('../../../proto/gen/waf/access/v1/passkey_pb.ts')).PasskeyService,
  SessionService: async () =>
    (await import('../../../proto/gen/waf/access/v1/session_pb.ts')).SessionService,
  LearningService: async () =>
    (await import('../../../proto/gen/waf/learning/v1/learning_pb.ts')).LearningService,
  ShadowService: async () =>
    (await import('../../../proto/gen/waf/shadow/v1/shadow_pb.ts')).ShadowService,
  GuardService: async () =>
    (await import('../../../proto/gen/waf/guard/v1/guard_pb.ts')).GuardService,
  TokenService: async () =>
    (await import('../../../proto/gen/waf/access/v1/token_pb.ts')).TokenService,
  EvidenceKeyService: async () =>
    (await import('../../../proto/gen/waf/evidence/v1/evidence_key_pb.ts')).EvidenceKeyService,
  ReplayService: async () =>
    (await import('../../../proto/gen/waf/replay/v1/replay_pb.ts')).ReplayService,
  AgentService: async () => (await import('../../../proto/gen/waf/v1/agent_pb.ts')).AgentService,
  AgentGroupService: async () =>
    (await import('../../../proto/gen/waf/v1/agent_group_pb.ts')).AgentGroupService,
  AIService: async () => (await import('../../../proto/gen/waf/v1/ai_pb.ts')).AIService,
  AlertService: async () => (await import('../../../proto/gen/waf/v1/alert_pb.ts')).AlertService,
  ApiSchemaService: async () =>
    (await import('../../../proto/gen/waf/v1/api_schema_pb.ts')).ApiSchemaService,
  AuditService: async () => (await import('../../../proto/gen/waf/v1/audit_pb.ts')).AuditService,
  AuthService: async () => (await import('../../../proto/gen/waf/v1/auth_pb.ts')).AuthService,
  CertService: async () => (await import('../../../proto/gen/waf/v1/cert_pb.ts')).CertService,
  CountryAccessService: async () =>
    (await import('../../../proto/gen/waf/v1/country_access_pb.ts')).CountryAccessService,
  CrsService: async () => (await import('../../../proto/gen/waf/v1/crs_pb.ts')).CrsService,
  CustomRuleService: async () =>
    (await import('../../../proto/gen/waf/v1/custom_rule_pb.ts')).CustomRuleService,
  IpListService: async () =>
    (await import('../../../proto/gen/waf/v1/ip_list_pb.ts')).IpListService,
  LogService: async () => (await import('../../../proto/gen/waf/v1/log_pb.ts')).LogService,
  MenuService: async () => (await import('../../../proto/gen/waf/v1/menu_pb.ts')).MenuService,
  OperationControlService: async () =>
    (await import('../../../proto/gen/waf/v1/operation_control_pb.ts')).OperationControlService,
  PolicyService: async () => (await import('../../../proto/gen/waf/v1/policy_pb.ts')).PolicyService,
  RateLimitService: async () =>
    (await import('../../../proto/gen/waf/v1/rate_limit_pb.ts')).RateLimitService,
  RoleService: async () => (await import('../../../proto/gen/waf/v1/role_pb.ts')).RoleService,
  RuleOverrideService: async () =>
    (await import('../../../proto/gen/waf/v1/rule_override_pb.ts')).RuleOverrideService,
  SiteService: async () => (await import('../../../proto/gen/waf/v1/site_pb.ts')).SiteService,
  SystemService: async () => (await import('../../../proto/gen/waf/v1/system_pb.ts')).SystemService,
  TrustService: async () => (await import('../../../proto/gen/waf/v1/trust_pb.ts')).TrustService,
  UpstreamService: async () =>
    (await import('../../../proto/gen/waf/v1/upstream_pb.ts')).UpstreamService,
  UserService: async () => (await import('../../../proto/gen/waf/v1/user_pb.ts')).UserService,
};

/** The services that people call. */
export const serviceNames: readonly string[] = Object.keys(services);

/** The descriptor of a service of `serviceNames`. */
export function loadService(name: string): Promise<DescService> {
  return services[name]!();
}
