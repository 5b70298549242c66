/**
 * `waf learning ...`: values of a site that hold what looks like an attack, and decisions on it.
 */

import type { Proposal } from '../../../proto/gen/waf/learning/v1/learning_pb.ts';
import { detectionLearning } from '../../domain/site/site-choices.ts';
import { detectionLearningLimits } from '../../limits/detection-learning-limits.ts';
import { curlOf } from '../try-lines.ts';
import { textFlag, type ArgumentDefinition, type CommandDefinition } from '../command.ts';
import { wholeNumber } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { callCommand } from '../regular-commands.ts';
import { timeText } from '../show.ts';
import { siteOptionCommand } from './site-option.ts';

const siteArgument = nameArgument('site');
const idArgument: ArgumentDefinition = {
  name: '<id>',
  summary: 'id of the proposal; see learning list',
};
const columns = ['ID', 'STATE', 'CLIENTS', 'HOURS', 'CONFIDENCE', 'ENDS', 'WHAT'];

/** Commands on what sites learn. */
export const learningCommands: readonly CommandDefinition[] = [
  siteOptionCommand({
    path: ['learning', 'mode'],
    option: detectionLearning,
    summary: 'Show or change whether a site learns which signs are ordinary content',
    help:
      'A site whose policy decides by score counts the clients that show signs of an attack in\n' +
      'a value, by hour. With suggest (the standard) it proposes that the value holds such\n' +
      'content, with auto it acts by itself, for 30 days. Signs that prove an attack count always.\n' +
      'Example: waf learning mode blog --mode auto',
    flag: 'mode',
    flagSummary: 'what is done with what the site learns',
    tryLine: (site) => `Try: ${curlOf(site)}/, then waf learning list ${site.name}`,
  }),
  callCommand({
    path: ['learning', 'list'],
    summary: 'List what a site proposes to let through, and what was decided',
    help:
      'Clients are distinct networks (IPv4 /24, IPv6 /48) of the last 24 hours. Requests that\n' +
      'others than the score refused, or with a sign that proves an attack, do not count.\n' +
      'Example: waf learning list blog',
    arguments: [siteArgument],
    call: ({ learning }, [siteId = '']) => learning.listProposals({ siteId }),
    table: ({ items }) => ({ columns, rows: items.map(rowOf) }),
    after: ({ output }, response) => {
      if (response.effect !== '') output.note(response.effect);
      if (response.mode === 'off') output.note('The site does not learn: learning mode');
    },
  }),
  callCommand({
    path: ['learning', 'accept'],
    summary: 'Accept a proposal: signs of its family are content of its value',
    help:
      'Weak signs of the family no longer count in this parameter of this site; a sign that\n' +
      'proves an attack still does. A value has one such family.\n' +
      'Example: waf learning accept blog 3f2a9c41d0be --days 30',
    arguments: [siteArgument, idArgument],
    flags: [{ flags: '--days <days>', summary: 'days until it ends, 1 to 366; default 90' }],
    published: true,
    call: ({ learning }, [siteId = '', id = ''], flags) => {
      const text = textFlag(flags, 'days');
      const bounds = { min: 1, max: detectionLearningLimits.acceptedDaysMax };
      const days = text === undefined ? 0 : wholeNumber(text, '--days', bounds);
      return learning.acceptProposal({ siteId, id, days });
    },
    table: ({ proposal }) => ({ columns, rows: [proposal!].map(rowOf) }),
  }),
  callCommand({
    path: ['learning', 'dismiss'],
    summary: 'Dismiss a proposal, or end what was accepted',
    help: 'It is not proposed again. Example: waf learning dismiss blog 3f2a9c41d0be',
    arguments: [siteArgument, idArgument],
    published: true,
    call: ({ learning }, [siteId = '', id = '']) => learning.dismissProposal({ siteId, id }),
    table: ({ proposal }) => ({ columns, rows: [proposal!].map(rowOf) }),
  }),
  callCommand({
    path: ['learning', 'reset'],
    summary: 'Forget what a site learned and all that was decided of it',
    help: 'Example: waf learning reset blog',
    arguments: [siteArgument],
    published: true,
    call: ({ learning }, [siteId = '']) => learning.resetLearning({ siteId }),
    table: (response, [siteId = '']) => ({
      columns: ['SITE', 'DECISIONS FORGOTTEN'],
      ids: { SITE: ['site'] },
      rows: [[siteId, String(response.forgottenCount)]],
    }),
  }),
  {
    path: ['learning', 'export'],
    summary: 'Print all that a site learned, with its counts by hour, as JSON',
    help: 'Example: waf learning export blog > learned.json',
    arguments: [siteArgument],
    run: async (context, [siteId = '']) => {
      const { learning } = await context.api();
      const { learningJson } = await learning.exportLearning({ siteId });
      const learned: unknown = JSON.parse(Buffer.from(learningJson).toString('utf8'));
      // People who redirect it get JSON, too.
      if (context.output.format === 'table') context.output.line(JSON.stringify(learned, null, 2));
      else context.output.result(learned, { columns: [], rows: [] });
      return 0;
    },
  },
];

function rowOf(one: Proposal): string[] {
  const { id, state, clients, hours, confidence, endsAt, summary, family } = one;
  const ends = timeText(endsAt);
  return [id, state, String(clients), String(hours), confidence, ends, `${family}: ${summary}`];
}
