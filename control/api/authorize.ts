/** Who may call what: the caller from socket or token, the rule from the method's option. */

import { getOption, hasOption, type DescMethod } from '@bufbuild/protobuf';
import type { ContextValues, Interceptor } from '@connectrpc/connect';
import { authorization } from '../../proto/gen/waf/v1/options_pb.ts';
import type { Caller, PermissionRule } from '../auth/permissions.ts';
import { requirePermission } from '../auth/permissions.ts';
import { localAdministrator, type Sessions } from '../auth/sessions.ts';
import { defaultTenantId } from '../domain/records.ts';
import { addressKey, callerKey, entranceKey } from './context.ts';

/** The rule of a method; a method without one is refused at start. */
export function ruleOf(method: DescMethod): PermissionRule {
  if (!hasOption(method, authorization)) {
    throw new Error(`${method.parent.typeName}/${method.name} has no permission rule`);
  }
  return getOption(method, authorization);
}

/** Refuses calls whose rule does not hold. */
export function authorizeInterceptor(sessions: Sessions): Interceptor {
  return (next) => async (request) => {
    const { contextValues: values, header } = request;
    await authorize(sessions, request.method, header.get('authorization'), values);
    return next(request);
  };
}

/** Finds the caller, keeps it in `values`, and rejects when the method's rule does not hold. */
export async function authorize(
  sessions: Sessions,
  method: DescMethod,
  header: string | null,
  values: ContextValues,
): Promise<void> {
  const rule = ruleOf(method);
  const known = values.get(callerKey);
  // A public call needs no token: a wrong one in it is no guess, and a limit must not refuse it.
  const nobodyAsked = rule.public && isApiToken(header);
  const caller =
    known ??
    (values.get(entranceKey) === 'socket'
      ? localAdministrator(defaultTenantId)
      : nobodyAsked
        ? null
        : await bearerCaller(sessions, header, values.get(addressKey)));
  requirePermission(rule, caller);
  values.set(callerKey, caller);
}

function isApiToken(header: string | null): boolean {
  return /^Bearer +waf_/i.test(header ?? '');
}

/** Who presents the token of an Authorization header; null when it has no good one. */
export async function bearerCaller(
  sessions: Sessions,
  header: string | null,
  address: string,
): Promise<Caller | null> {
  const token = /^Bearer +([\w.-]{1,8192})$/i.exec(header ?? '')?.[1];
  return token === undefined ? null : sessions.callerOf(token, address);
}
