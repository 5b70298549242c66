/** What the routing table of a site may be: path prefixes of whole segments, pools, ids. */

import type {
  SiteJson,
  SiteRouteJson,
  SiteRoutingJson,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField, refusal } from '../errors.ts';
import { checkNameLength } from '../names.ts';

const prefixCharactersMax = 1024;
// RFC 9110 token, and RFC 6265 cookie-name.
const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
// RFC 3986 pchar without percent: a prefix is compared with the path as it was sent.
const prefixPattern = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;

/** What a table is checked against. */
export interface RoutingSurroundings {
  readonly site: Pick<SiteJson, 'upstreams'>;
  upstreamExists(id: string): boolean;
  /** Whether a pool takes part in serving. Absent: every pool does. */
  upstreamActive?(id: string): boolean;
  /** Makes the identifier of a route. */
  newId(): string;
}

/**
 * The table with prefixes in their stored form, longest first, and every route with an id. Errors:
 * invalid_argument naming the field; failed_precondition when unmatched paths would have no origin.
 */
export function checkRouting(
  routing: SiteRoutingJson,
  around: RoutingSurroundings,
): SiteRoutingJson {
  const asked = routing.routes ?? [];
  if (asked.length > resourceLimits.routesPerSiteMax) {
    throw invalidField('routing.routes', `has at most ${resourceLimits.routesPerSiteMax} entries`);
  }
  const ids = new Set<string>();
  const prefixes = new Set<string>();
  const routes = asked.map((route, at) => {
    const field = `routing.routes[${at}]`;
    const checked = checkRoute(route, field, around);
    const { id = '', pathPrefix = '' } = checked;
    if (ids.has(id)) throw invalidField(`${field}.id`, 'is the id of another route');
    if (prefixes.has(pathPrefix)) {
      throw invalidField(`${field}.pathPrefix`, 'is the prefix of another route');
    }
    ids.add(id);
    prefixes.add(pathPrefix);
    return checked;
  });
  const unmatchedAction =
    routing.unmatchedAction === 'UNMATCHED_PATH_ACTION_RETURN_404'
      ? 'UNMATCHED_PATH_ACTION_RETURN_404'
      : 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM';
  const checked: SiteRoutingJson = {
    routes: routes.sort(
      (left, right) =>
        (right.pathPrefix ?? '').length - (left.pathPrefix ?? '').length ||
        ((left.pathPrefix ?? '') < (right.pathPrefix ?? '') ? -1 : 1),
    ),
    unmatchedAction,
  };
  requireDefault(checked, around.site);
  return checked;
}

/** Errors: failed_precondition when paths without a route have nowhere to go. */
export function requireDefault(routing: SiteRoutingJson, site: Pick<SiteJson, 'upstreams'>): void {
  const hasRoutes = (routing.routes ?? []).length > 0;
  const needsDefault = routing.unmatchedAction !== 'UNMATCHED_PATH_ACTION_RETURN_404';
  if (!hasRoutes || !needsDefault || (site.upstreams ?? []).length > 0) return;
  throw refusal(
    'failed_precondition',
    'routing.unmatchedAction: paths without a route go to the upstream of the site, and it has ' +
      'none: give the site an upstream, or use UNMATCHED_PATH_ACTION_RETURN_404',
  );
}

/** A prefix as it is kept: lower case, without a final slash. Errors: invalid_argument. */
export function normalizePrefix(text: string, field: string): string {
  if (text === '') throw invalidField(field, 'is required, for example /api');
  if (text.length > prefixCharactersMax) {
    throw invalidField(field, `has at most ${prefixCharactersMax} characters`);
  }
  if (!prefixPattern.test(text)) {
    throw invalidField(
      field,
      'must begin with a slash and hold path characters only, without percent, ? and #',
    );
  }
  const prefix = text.toLowerCase().replace(/\/+$/, '') || '/';
  const segments = prefix.split('/').slice(1);
  if (prefix !== '/' && segments.some((one) => one === '' || one === '.' || one === '..')) {
    throw invalidField(field, 'must not hold empty or dot segments');
  }
  return prefix;
}

function checkRoute(
  route: SiteRouteJson,
  field: string,
  around: RoutingSurroundings,
): SiteRouteJson {
  const id = route.id ?? '';
  if (id !== '' && !idPattern.test(id)) {
    throw invalidField(
      `${field}.id`,
      'must be an id that the service gave; leave it out for a new',
    );
  }
  const name = checkNameLength(route.name, `${field}.name`);
  const pathPrefix = normalizePrefix(route.pathPrefix ?? '', `${field}.pathPrefix`);
  const upstreamId = route.upstreamId ?? '';
  checkPool(upstreamId, `${field}.upstreamId`, around);
  const canary = route.canary === undefined ? {} : { canary: checkCanary(route, field, around) };
  const strips = route.rewriteMode === 'PATH_REWRITE_MODE_STRIP_PREFIX';
  return {
    id: id === '' ? around.newId() : id,
    name,
    pathPrefix,
    upstreamId,
    rewriteMode: strips ? 'PATH_REWRITE_MODE_STRIP_PREFIX' : 'PATH_REWRITE_MODE_PRESERVE',
    ...canary,
  };
}

function checkCanary(
  { upstreamId: main, canary = {} }: SiteRouteJson,
  field: string,
  around: RoutingSurroundings,
): NonNullable<SiteRouteJson['canary']> {
  const { upstreamId = '', weight = 0, headerName = '', cookieName = '' } = canary;
  checkPool(upstreamId, `${field}.canary.upstreamId`, around);
  if (upstreamId === main) {
    throw invalidField(`${field}.canary.upstreamId`, 'is the pool of the route itself');
  }
  if (headerName !== '' && !tokenPattern.test(headerName)) {
    throw invalidField(`${field}.canary.headerName`, 'is no name of a field');
  }
  if (cookieName !== '' && !tokenPattern.test(cookieName)) {
    throw invalidField(`${field}.canary.cookieName`, 'is no name of a cookie');
  }
  return { upstreamId, weight, headerName, cookieName };
}

function checkPool(id: string, field: string, around: RoutingSurroundings): void {
  if (id === '') throw invalidField(field, 'is required');
  if (!around.upstreamExists(id)) throw invalidField(field, 'does not exist');
  if (around.upstreamActive?.(id) === false) {
    throw refusal('failed_precondition', `${field}: the pool is disabled`);
  }
}

/** Every pool that a table names, also for a part of the requests. */
export function poolsOf(routing: SiteRoutingJson | undefined): string[] {
  const routes = routing?.routes ?? [];
  const ids = routes.flatMap(({ upstreamId, canary }) => [upstreamId, canary?.upstreamId]);
  return [...new Set(ids.filter((id): id is string => id !== undefined && id !== ''))];
}
