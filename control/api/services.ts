/** The list of all services of the contract, and which methods of each are built. */

import type { DescService } from '@bufbuild/protobuf';
import { AgentGroupService } from '../../proto/gen/waf/v1/agent_group_pb.ts';
import { AgentService } from '../../proto/gen/waf/v1/agent_pb.ts';
import { AgentStreamService } from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { AIService } from '../../proto/gen/waf/v1/ai_pb.ts';
import { AlertService } from '../../proto/gen/waf/v1/alert_pb.ts';
import { ApiSchemaService } from '../../proto/gen/waf/v1/api_schema_pb.ts';
import { AuditService } from '../../proto/gen/waf/v1/audit_pb.ts';
import { AuthService } from '../../proto/gen/waf/v1/auth_pb.ts';
import { CertService } from '../../proto/gen/waf/v1/cert_pb.ts';
import { CountryAccessService } from '../../proto/gen/waf/v1/country_access_pb.ts';
import { CrsService } from '../../proto/gen/waf/v1/crs_pb.ts';
import { CustomRuleService } from '../../proto/gen/waf/v1/custom_rule_pb.ts';
import { EvidenceUploadService } from '../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { IpListService } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import { LogService } from '../../proto/gen/waf/v1/log_pb.ts';
import { MenuService } from '../../proto/gen/waf/v1/menu_pb.ts';
import { OperationControlService } from '../../proto/gen/waf/v1/operation_control_pb.ts';
import { PolicyService } from '../../proto/gen/waf/v1/policy_pb.ts';
import { RateLimitService } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import { PasskeyService } from '../../proto/gen/waf/access/v1/passkey_pb.ts';
import { SessionService } from '../../proto/gen/waf/access/v1/session_pb.ts';
import { TokenService } from '../../proto/gen/waf/access/v1/token_pb.ts';
import { EvidenceKeyService } from '../../proto/gen/waf/evidence/v1/evidence_key_pb.ts';
import { GuardService } from '../../proto/gen/waf/guard/v1/guard_pb.ts';
import { LearningService } from '../../proto/gen/waf/learning/v1/learning_pb.ts';
import { ReplayService } from '../../proto/gen/waf/replay/v1/replay_pb.ts';
import { RoleService } from '../../proto/gen/waf/v1/role_pb.ts';
import { RuleOverrideService } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import { ShadowService } from '../../proto/gen/waf/shadow/v1/shadow_pb.ts';
import { SiteService } from '../../proto/gen/waf/v1/site_pb.ts';
import { SystemService } from '../../proto/gen/waf/v1/system_pb.ts';
import { TrustService } from '../../proto/gen/waf/v1/trust_pb.ts';
import { UpstreamService } from '../../proto/gen/waf/v1/upstream_pb.ts';
import { UserService } from '../../proto/gen/waf/v1/user_pb.ts';
import { agentGroupService } from './agent-group-service/service.ts';
import { agentService } from './agent-service/service.ts';
import { agentStreamService } from './agent-stream-service/service.ts';
import { alertService } from './alert-service/service.ts';
import { apiSchemaService } from './api-schema-service/service.ts';
import { auditService } from './audit-service/service.ts';
import { aiService } from './ai-service/service.ts';
import { authService } from './auth-service/service.ts';
import { certService } from './cert-service/service.ts';
import type { ApiParts } from './context.ts';
import { countryAccessService } from './country-access-service/service.ts';
import { crsService } from './crs-service/service.ts';
import { customRuleService } from './custom-rule-service/service.ts';
import { evidenceKeyService } from './evidence-key-service/service.ts';
import { evidenceUploadService } from './evidence-upload-service/service.ts';
import { ipListService } from './ip-list-service/service.ts';
import { guardService } from './guard-service/service.ts';
import { learningService } from './learning-service/service.ts';
import { logService } from './log-service/service.ts';
import { menuService } from './menu-service/service.ts';
import type { Built } from './method.ts';
import { operationControlService } from './operation-control-service/service.ts';
import { passkeyService } from './passkey-service/service.ts';
import { policyService } from './policy-service/service.ts';
import { rateLimitService } from './rate-limit-service/service.ts';
import { replayService } from './replay-service/service.ts';
import { roleService } from './role-service/service.ts';
import { ruleOverrideService } from './rule-override-service/service.ts';
import { sessionService } from './session-service/service.ts';
import { shadowService } from './shadow-service/service.ts';
import { siteService } from './site-service/service.ts';
import { systemService } from './system-service/service.ts';
import { tokenService } from './token-service/service.ts';
import { trustService } from './trust-service/service.ts';
import { upstreamService } from './upstream-service/service.ts';
import { userService } from './user-service/service.ts';

/** A service and how its methods are made. */
export interface ServiceEntry {
  readonly service: DescService;
  readonly build: (parts: ApiParts) => Readonly<Record<string, unknown>>;
}

/** All services in the order of the catalog. */
export const services: readonly ServiceEntry[] = [
  entry(AuthService, authService),
  entry(SystemService, systemService),
  entry(SiteService, siteService),
  entry(UpstreamService, upstreamService),
  entry(CertService, certService),
  entry(PolicyService, policyService),
  entry(RuleOverrideService, ruleOverrideService),
  entry(CustomRuleService, customRuleService),
  entry(IpListService, ipListService),
  entry(CountryAccessService, countryAccessService),
  entry(RateLimitService, rateLimitService),
  entry(CrsService, crsService),
  entry(LogService, logService),
  entry(AlertService, alertService),
  entry(AuditService, auditService),
  entry(AgentService, agentService),
  entry(AgentGroupService, agentGroupService),
  entry(AgentStreamService, agentStreamService),
  entry(EvidenceUploadService, evidenceUploadService),
  entry(TrustService, trustService),
  entry(UserService, userService),
  entry(RoleService, roleService),
  entry(MenuService, menuService),
  entry(AIService, aiService),
  entry(ApiSchemaService, apiSchemaService),
  entry(OperationControlService, operationControlService),
];

/** Services beside the contract's, on the same listeners and under the same rules. */
export const ownServices: readonly ServiceEntry[] = [
  entry(ReplayService, replayService),
  entry(LearningService, learningService),
  entry(ShadowService, shadowService),
  entry(GuardService, guardService),
  entry(TokenService, tokenService),
  entry(SessionService, sessionService),
  entry(PasskeyService, passkeyService),
  entry(EvidenceKeyService, evidenceKeyService),
];

function entry<S extends DescService>(
  service: S,
  build: (parts: ApiParts) => Built<S>,
): ServiceEntry {
  return { service, build: build as unknown as ServiceEntry['build'] };
}
