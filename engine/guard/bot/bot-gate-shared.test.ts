/** Challenges of nodes that record together what was used: a solution counts once among them. */

import { expect, test } from 'vitest';
import type { BotConfig, SharedUses, UseAnswer } from '../../contract/bot.ts';
import type { GuardVerdict } from '../../contract/guard.ts';
import { noGuardServices, type Guard } from '../guard.ts';
import { RateTable, shareRates } from '../rate-table.ts';
import { browse, gateOf, handIn, key, reasonOf } from '../../../test/support/bot-gates.ts';
import { answerOf, cookieOf, readPage, solve } from '../../../test/support/challenge-solver.ts';
import { Challenges } from './challenges.ts';

/** What nodes ask together. */
class Uses implements SharedUses {
  readonly asked: string[] = [];
  down = false;
  private readonly used = new Set<string>();

  async use(id: string): Promise<UseAnswer> {
    this.asked.push(id);
    if (this.down) return 'alone';
    const answer = this.used.has(id) ? 'again' : 'first';
    this.used.add(id);
    return answer;
  }
}

/** A node with counts of its own; nodes of one group have the seed in common. */
function nodeOf(name: string, uses: SharedUses, change: Partial<BotConfig> = {}, seed = 1): Guard {
  const table = new RateTable(shareRates([seed, 2], 16));
  const challenges = new Challenges(table, key, { node: name, uses });
  return gateOf(change, { ...noGuardServices, rates: table, challenges });
}

/** What a verdict comes to, in a few words. */
async function settled(verdict: GuardVerdict | null): Promise<string> {
  return reasonOf((await verdict?.later) ?? verdict);
}

test('a challenge of one node is solved at another, once', async () => {
  const uses = new Uses();
  const [one, two, three] = ['1', '2', '3'].map((name) => nodeOf(name, uses));
  const page = readPage(browse(one!));
  const nonce = solve(page);
  const verdict = handIn(two!, page.token, nonce);
  const solved = await verdict!.later!;
  expect(reasonOf(solved)).toBe('challenge bot_solved 303');
  const fields = [`Cookie: ${cookieOf(solved)}`];
  for (const node of [one, two, three]) expect(browse(node!, { fields })).toBeNull();
  for (const node of [one, two, three]) {
    expect(await settled(handIn(node!, page.token, nonce))).toBe('deny bot_replayed 403');
  }
  // The visitor who reloads the page is let in, wherever.
  expect(await settled(handIn(three!, page.token, nonce, { fields }))).toBe(
    'challenge bot_cleared 303',
  );
});

test('solutions that nodes are handed at the same time count once', async () => {
  const uses = new Uses();
  const nodes = ['1', '2', '3', '4'].map((name) => nodeOf(name, uses));
  const page = readPage(browse(nodes[0]!));
  const nonce = solve(page);
  const answers = await Promise.all(nodes.map((node) => settled(handIn(node, page.token, nonce))));
  expect(answers.toSorted()).toEqual([
    'challenge bot_solved 303',
    ...Array<string>(3).fill('deny bot_replayed 403'),
  ]);
});

test('while nobody can be asked, only the node that asked takes the solution', async () => {
  const uses = new Uses();
  const [one, two] = ['1', '2'].map((name) => nodeOf(name, uses));
  const page = readPage(browse(one!));
  const nonce = solve(page);
  uses.down = true;
  expect(await settled(handIn(two!, page.token, nonce))).toBe('challenge bot_other_node 403');
  expect(await settled(handIn(one!, page.token, nonce))).toBe('challenge bot_solved_alone 303');
  expect(await settled(handIn(one!, page.token, nonce))).toBe('deny bot_replayed 403');
});

test('nodes of another group, and nodes alone, take none of it', () => {
  const uses = new Uses();
  const page = readPage(browse(nodeOf('1', uses)));
  const nonce = solve(page);
  const refused = 'challenge bot_other_node 403';
  expect(reasonOf(handIn(nodeOf('2', uses, {}, 9), page.token, nonce))).toBe(refused);
  const table = new RateTable(shareRates([1, 2], 16));
  const alone = gateOf(
    {},
    { ...noGuardServices, challenges: new Challenges(table, key), rates: table },
  );
  expect(reasonOf(handIn(alone, page.token, nonce))).toBe(refused);
  const own = readPage(browse(alone));
  expect(reasonOf(handIn(nodeOf('1', uses), own.token, solve(own)))).toBe(refused);
  expect(uses.asked).toEqual([]);
});

test('a question that was answered wrongly at one node is not asked again at another', async () => {
  const uses = new Uses();
  const change: Partial<BotConfig> = { mode: 'human_verification' };
  const [one, two] = ['1', '2'].map((name) => nodeOf(name, uses, change));
  const page = readPage(browse(one!));
  const handed = (node: Guard, answer: string): GuardVerdict | null =>
    handIn(node, page.token, `${solve(page)}&answer=${answer}`);
  expect(await settled(handed(one!, '99'))).toBe('challenge bot_wrong_answer 403');
  expect(await settled(handed(two!, answerOf(page)))).toBe('deny bot_replayed 403');
});

test('a trial asks nobody', () => {
  const uses = new Uses();
  const node = nodeOf('1', uses);
  const page = readPage(browse(node));
  const verdict = handIn(node, page.token, solve(page), { trial: true });
  expect([reasonOf(verdict), verdict?.later, uses.asked]).toEqual([
    'challenge bot_solved 303',
    undefined,
    [],
  ]);
});
