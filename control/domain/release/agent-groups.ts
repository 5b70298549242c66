/** What a group of nodes may be, and which nodes belong to it. */

import type {
  AgentGroupJson,
  AgentGroupSelectorJson,
} from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField } from '../errors.ts';
import type { AgentRecord } from '../resource-records.ts';

const tagPattern = /^[A-Za-z0-9][A-Za-z0-9_.:=/-]{0,127}$/;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** The selector of a group, without repetition. Errors: invalid_argument at group.selector. */
export function checkSelector(group: AgentGroupJson): Required<AgentGroupSelectorJson> {
  const field = 'group.selector';
  const { selector } = group;
  if (selector === undefined) throw invalidField(field, 'is required');
  const matchTags = each(
    selector.matchTags ?? [],
    `${field}.matchTags`,
    tagPattern,
    'a tag: letters, digits, _ . : = / and -',
  );
  const matchAgentIds = each(
    selector.matchAgentIds ?? [],
    `${field}.matchAgentIds`,
    idPattern,
    'the id of a node',
  );
  if (matchTags.length === 0 && matchAgentIds.length === 0) {
    throw invalidField(field, 'needs at least one entry in matchTags or matchAgentIds');
  }
  return { matchTags, matchAgentIds };
}

/** The nodes that have every tag, and those that are named, by name. */
export function membersOf(
  selector: AgentGroupSelectorJson,
  agents: readonly AgentRecord[],
): AgentRecord[] {
  const tags = selector.matchTags ?? [];
  const ids = new Set(selector.matchAgentIds ?? []);
  return agents
    .filter(
      (agent) =>
        ids.has(agent.id) ||
        (tags.length > 0 && tags.every((tag) => (agent.tags ?? []).includes(tag))),
    )
    .sort((left, right) => left.name.localeCompare(right.name, 'en'));
}

function each(list: readonly string[], at: string, pattern: RegExp, what: string): string[] {
  const { agentSelectorsMax } = resourceLimits;
  if (list.length > agentSelectorsMax) {
    throw invalidField(at, `has at most ${agentSelectorsMax} entries`);
  }
  list.forEach((one, index) => {
    if (!pattern.test(one)) throw invalidField(`${at}[${index}]`, `must be ${what}`);
  });
  return [...new Set(list)];
}
