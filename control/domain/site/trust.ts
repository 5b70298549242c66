/**
 * Checks a trust profile: the trusted proxies, how they are connected, and which headers may name
 * the client. Reports all problems at once.
 */

import type {
  ClientIPRuleJson,
  TrustEdgeJson,
  TrustNodeJson,
  TrustProfileJson,
} from '../../../proto/gen/waf/v1/trust_pb.ts';
import { addressHeaders } from '../../../base/address-headers.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { trustLimits } from '../../../base/guard-limits.ts';
import { proxyPaths } from '../../../base/proxy-paths.ts';
import { hasControls } from '../access/ip-list-checks.ts';

/** A profile as it is kept; the id is the site's, or `global`. */
export interface TrustRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly profile: TrustProfileJson;
  /** RFC 3339. */
  readonly updatedAt: string;
}

/** One reason against a profile. */
export interface TrustIssue {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** What a profile is checked against. */
export interface TrustSurroundings {
  /** Accept headers outside the safe list. */
  readonly force: boolean;
  listExists(id: string): boolean;
}

/** Id of the profile of the whole deployment. */
export const globalTrustId = 'global';

/** Headers that are something else; never the name of a client. */
const foreignHeaders = new Set([
  'host',
  'cookie',
  'authorization',
  'proxy-authorization',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'user-agent',
  'referer',
  'origin',
]);

const xffModes = ['', 'auto', 'append', 'overwrite', 'preserve', 'duplicate', 'unknown'];
const parsers = ['single_ip', 'xff', 'forwarded', 'remote_addr'];
const fixedSelectors = ['single', 'leftmost', 'rightmost', 'position'];
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

type Report = (field: string, code: string, message: string) => void;

/** Everything that is wrong with a profile; an empty list when it can be used. */
export function checkTrustProfile(
  profile: TrustProfileJson,
  around: TrustSurroundings,
  at = 'profile',
): TrustIssue[] {
  const issues: TrustIssue[] = [];
  const report: Report = (field, code, message) =>
    void issues.push({ field: `${at}.${field}`, code, message });
  const nodes = profile.nodes ?? [];
  const edges = profile.edges ?? [];
  const rules = profile.extractionRules ?? [];
  const { trustNodesMax, trustEdgesMax, trustRulesMax } = trustLimits;
  if (nodes.length > trustNodesMax) report('nodes', 'too_many', `at most ${trustNodesMax}`);
  if (edges.length > trustEdgesMax) report('edges', 'too_many', `at most ${trustEdgesMax}`);
  if (rules.length > trustRulesMax) {
    report('extractionRules', 'too_many', `at most ${trustRulesMax}`);
  }
  if (issues.length > 0) return issues;
  const known = checkNodes(nodes, around, report);
  checkEdges(edges, known, report);
  if (issues.length === 0) checkGraph(nodes, edges, report);
  checkRules(rules, known, around, report);
  return issues;
}

/** A profile with header names as they are compared, in lower case, and texts trimmed. */
export function canonicalProfile(profile: TrustProfileJson): TrustProfileJson {
  return {
    nodes: (profile.nodes ?? []).map((node) => ({
      id: node.id ?? '',
      name: (node.name ?? '').trim(),
      realIpHeader: (node.realIpHeader ?? '').toLowerCase(),
      trust: { ipListIds: [...new Set(node.trust?.ipListIds ?? [])] },
      xffMode: node.xffMode ?? '',
    })),
    edges: (profile.edges ?? []).map(({ from = '', to = '' }) => ({ from, to })),
    extractionRules: (profile.extractionRules ?? []).map((rule) => ({
      ...rule,
      header: (rule.header ?? '').toLowerCase(),
    })),
  };
}

function checkNodes(
  nodes: readonly TrustNodeJson[],
  around: TrustSurroundings,
  report: Report,
): ReadonlySet<string> {
  const known = new Set<string>();
  nodes.forEach((node, index) => {
    const at = `nodes[${index}]`;
    const id = node.id ?? '';
    if (id === 'internet' || id === 'waf') {
      report(`${at}.id`, 'reserved_node_id', 'internet and waf are the ends of every path');
    } else if (!idPattern.test(id)) {
      report(`${at}.id`, 'invalid_node_id', 'must be 1 to 64 letters, digits, dots or dashes');
    } else if (known.has(id)) report(`${at}.id`, 'duplicate_node_id', 'another node has it');
    known.add(id);
    const name = (node.name ?? '').trim();
    if (name === '' || name.length > resourceLimits.nameCharactersMax || hasControls(name)) {
      const most = resourceLimits.nameCharactersMax;
      report(`${at}.name`, 'invalid_name', `must have 1 to ${most} printable characters`);
    }
    if (!xffModes.includes(node.xffMode ?? '')) {
      const modes = xffModes.slice(1).join(', ');
      report(`${at}.xffMode`, 'invalid_xff_mode', `must be empty or one of ${modes}`);
    }
    checkHeader(node.realIpHeader ?? '', `${at}.realIpHeader`, around, report, true);
    const lists = node.trust?.ipListIds ?? [];
    if (lists.length === 0 || lists.length > trustLimits.trustListsPerNodeMax) {
      const most = trustLimits.trustListsPerNodeMax;
      report(`${at}.trust.ipListIds`, 'trust_required', `name 1 to ${most} IP lists`);
    }
    lists.forEach((list, place) => {
      if (around.listExists(list)) return;
      const problem = `No IP list with the id ${JSON.stringify(list.slice(0, 64))}.`;
      report(`${at}.trust.ipListIds[${place}]`, 'unknown_ip_list', problem);
    });
  });
  return known;
}

function checkEdges(
  edges: readonly TrustEdgeJson[],
  known: ReadonlySet<string>,
  report: Report,
): void {
  const seen = new Set<string>();
  edges.forEach(({ from = '', to = '' }, index) => {
    const at = `edges[${index}]`;
    if (from !== 'internet' && !known.has(from)) {
      report(`${at}.from`, 'unknown_node', 'must be a node of the profile, or internet');
    }
    if (to !== 'waf' && !known.has(to)) {
      report(`${at}.to`, 'unknown_node', 'must be a node of the profile, or waf');
    }
    if (from === to) report(at, 'self_edge', 'must join two different ends');
    if (seen.has(`${from}\n${to}`)) report(at, 'duplicate_edge', 'is there twice');
    seen.add(`${from}\n${to}`);
  });
}

function checkGraph(
  nodes: readonly TrustNodeJson[],
  edges: readonly TrustEdgeJson[],
  report: Report,
): void {
  const next = (id: string): string[] =>
    edges.filter((edge) => edge.from === id).map((edge) => edge.to ?? '');
  const state = new Map<string, 'open' | 'done'>();
  const hasCycle = (id: string): boolean => {
    if (state.get(id) === 'open') return true;
    if (state.get(id) === 'done') return false;
    state.set(id, 'open');
    const found = next(id).some(hasCycle);
    state.set(id, 'done');
    return found;
  };
  if (nodes.some(({ id = '' }) => hasCycle(id))) {
    return report('edges', 'cycle', 'must not lead back to a node');
  }
  const steps = edges.map(({ from = '', to = '' }) => ({ from, to }));
  const paths = proxyPaths(steps, trustLimits.trustPathsMax);
  if (paths.length > trustLimits.trustPathsMax) {
    return report('edges', 'too_many_paths', `make at most ${trustLimits.trustPathsMax} paths`);
  }
  const onPath = new Set(paths.flat());
  nodes.forEach(({ id = '' }, index) => {
    if (onPath.has(id)) return;
    report(`nodes[${index}]`, 'unreachable_node', 'lies on no path from internet to waf');
  });
}

function checkRules(
  rules: readonly ClientIPRuleJson[],
  known: ReadonlySet<string>,
  around: TrustSurroundings,
  report: Report,
): void {
  const seen = new Set<string>();
  rules.forEach((rule, index) => {
    const at = `extractionRules[${index}]`;
    const id = rule.id ?? '';
    if (!idPattern.test(id)) report(`${at}.id`, 'invalid_rule_id', 'must be an id of its own');
    else if (seen.has(id)) report(`${at}.id`, 'duplicate_rule_id', 'another rule has it');
    seen.add(id);
    const parser = rule.parser ?? '';
    if (!parsers.includes(parser)) {
      return report(`${at}.parser`, 'invalid_parser', `must be one of ${parsers.join(', ')}`);
    }
    if (parser === 'remote_addr') return checkPeerRule(rule, at, report);
    checkHeader(rule.header ?? '', `${at}.header`, around, report, false);
    (rule.nodeIds ?? []).forEach((node, place) => {
      if (known.has(node)) return;
      report(`${at}.nodeIds[${place}]`, 'unknown_node', 'must be a node of the profile');
    });
    if (rule.allowUntrusted !== true && (rule.nodeIds ?? []).length === 0) {
      report(`${at}.nodeIds`, 'node_binding_required', 'name the nodes that write this header');
    }
    checkSelector(rule, parser, at, report);
  });
}

function checkPeerRule(rule: ClientIPRuleJson, at: string, report: Report): void {
  const empty = (field: 'header' | 'selector' | 'positionFrom'): void => {
    if ((rule[field] ?? '') === '') return;
    report(`${at}.${field}`, 'not_for_remote_addr', 'must be empty for remote_addr');
  };
  empty('header');
  empty('selector');
  empty('positionFrom');
  if (rule.allowUntrusted === true) {
    report(`${at}.allowUntrusted`, 'not_for_remote_addr', 'the peer needs no trust');
  }
}

function checkSelector(rule: ClientIPRuleJson, parser: string, at: string, report: Report): void {
  const selector = rule.selector ?? '';
  const allowed = parser === 'single_ip' ? ['', 'single'] : ['', ...fixedSelectors];
  if (!allowed.includes(selector)) {
    const named = allowed.slice(1).join(', ');
    return report(`${at}.selector`, 'invalid_selector', `must be empty or one of ${named}`);
  }
  const { position = 0, positionFrom = '' } = rule;
  if (selector === 'position') {
    if (position < 1 || position > trustLimits.forwardedHopsMax) {
      const most = trustLimits.forwardedHopsMax;
      report(`${at}.position`, 'invalid_position', `must be between 1 and ${most}`);
    }
    if (positionFrom !== 'left' && positionFrom !== 'right') {
      report(`${at}.positionFrom`, 'invalid_position_from', 'must be left or right');
    }
  } else {
    const alone = 'goes with selector position only; leave it out, or set selector to position';
    if (position !== 0) report(`${at}.position`, 'position_without_selector', alone);
    if (positionFrom !== '') report(`${at}.positionFrom`, 'position_without_selector', alone);
  }
  if (rule.allowUntrusted === true && parser !== 'single_ip' && selector === '') {
    const named = fixedSelectors.join(', ');
    report(`${at}.selector`, 'fixed_selector_required', `without verification, use ${named}`);
  }
}

function checkHeader(
  header: string,
  at: string,
  around: TrustSurroundings,
  report: Report,
  mayBeEmpty: boolean,
): void {
  if (header === '') {
    if (!mayBeEmpty) report(at, 'header_required', 'is required for this parser');
    return;
  }
  const name = header.toLowerCase();
  if (!headerName.test(header)) report(at, 'invalid_header', 'must be the name of a header');
  else if (foreignHeaders.has(name)) report(at, 'header_forbidden', 'never names a client');
  else if (!around.force && !addressHeaders.includes(name)) {
    report(at, 'header_not_safelisted', 'is not known to be written by proxies; force accepts it');
  }
}
