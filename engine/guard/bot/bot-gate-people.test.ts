/** Checks that need no script, and questions for people. */

import { describe, expect, test } from 'vitest';
import { botLimits } from '../../../base/guard-limits.ts';
import type { Guard } from '../guard.ts';
import type { Asked } from '../../../test/support/request-view.ts';
import { browse, gateOf, handIn, reasonOf, servicesOf } from '../../../test/support/bot-gates.ts';
import { answerOf, cookieOf, readPage, solve } from '../../../test/support/challenge-solver.ts';

describe('without script', () => {
  const waited = { afterMs: botLimits.waitMs };
  const wait = (token: string): Asked => ({ target: `/.waf-check/wait?token=${token}` });

  test('a wait clears for a short time, and for the network only', () => {
    const guard = gateOf();
    const page = readPage(browse(guard));
    expect(page.text).toContain(`content="6;url=/.waf-check/wait?token=${page.token}"`);
    expect(reasonOf(browse(guard, wait(page.token)))).toBe('challenge bot_early 403');
    const solved = browse(guard, { ...wait(page.token), ...waited });
    expect(reasonOf(solved)).toBe('challenge bot_solved 303');
    const fields = [`Cookie: ${cookieOf(solved)}`];
    expect(browse(guard, { fields, ...waited })).toBeNull();
    expect(browse(guard, { fields, ...waited, ip: '192.0.3.1' })).not.toBeNull();
    const shortMs = botLimits.waitClearanceSeconds * 1000 + botLimits.waitMs;
    expect(browse(guard, { fields, afterMs: shortMs })).not.toBeNull();
  });

  test('a network that waited often needs script', () => {
    const guard = gateOf();
    for (let turn = 0; turn < botLimits.waitsPerNetwork; turn++) {
      const { token } = readPage(browse(guard));
      const answer = browse(guard, { ...wait(token), ...waited });
      expect(reasonOf(answer)).toBe('challenge bot_solved 303');
    }
    const page = readPage(browse(guard, waited));
    expect(page.text).not.toContain('http-equiv="refresh"');
    const late = { afterMs: 2 * botLimits.waitMs };
    const refused = browse(guard, { ...wait(page.token), ...late });
    expect(reasonOf(refused)).toBe('challenge bot_proof_needed 403');
    expect(reasonOf(handIn(guard, page.token, solve(page), late))).toBe('challenge bot_solved 303');
  });
});

describe('human verification', () => {
  const human = (services = servicesOf()): Guard =>
    gateOf({ mode: 'human_verification' }, services);
  const answer = (token: string, text: string, nonce: string): Asked => ({
    target: `/.waf-check/answer?token=${token}&answer=${text}&nonce=${nonce}`,
  });

  test('the right answer with a proof clears', () => {
    const guard = human();
    const page = readPage(browse(guard));
    const right = answer(page.token, answerOf(page), solve(page));
    expect(reasonOf(browse(guard, right))).toBe('challenge bot_solved 303');
  });

  test('a proof alone does not, nor a wrong answer; a question is asked once', () => {
    const guard = human();
    const page = readPage(browse(guard));
    const wrong = 'challenge bot_wrong_answer 403';
    expect(reasonOf(handIn(guard, page.token, solve(page)))).toBe(wrong);
    const right = answer(page.token, answerOf(page), solve(page));
    expect(reasonOf(browse(guard, right))).toBe(wrong);
  });

  test('who answers wrongly once may answer the next question', () => {
    const guard = human();
    expect(reasonOf(browse(guard, answer(readPage(browse(guard)).token, '1', '')))).toBe(
      'challenge bot_wrong_answer 403',
    );
    const page = readPage(browse(guard));
    const right = answer(page.token, answerOf(page), solve(page));
    expect(reasonOf(browse(guard, right))).toBe('challenge bot_solved 303');
  });

  test('the tones can be counted instead, and the sound tells nothing by its length', async () => {
    const guard = human();
    const page = readPage(browse(guard));
    const sound = browse(guard, { target: `/.waf-check/sound?token=${page.token}` });
    expect(sound?.page?.contentType).toBe('audio/wav');
    const tones = countTones(sound!.page!.body);
    const counted = browse(guard, answer(page.token, String(tones), solve(page)));
    expect(reasonOf(counted)).toBe('challenge bot_solved 303');
    const lengths = new Set<number>();
    for (let turn = 0; turn < 20; turn++) {
      const { token } = readPage(browse(guard));
      const file = browse(guard, { target: `/.waf-check/sound?token=${token}` });
      lengths.add(file!.page!.body.length);
    }
    expect(lengths.size).toBe(1);
  });

  test('without script the right answer clears after the wait', () => {
    const guard = human();
    const page = readPage(browse(guard));
    const right = answer(page.token, answerOf(page), '');
    const early = browse(guard, right);
    expect(reasonOf(early)).toBe('challenge bot_early 403');
    expect(early!.page!.body.toString()).toContain('http-equiv="refresh"');
    const waited = browse(guard, { ...right, afterMs: botLimits.waitMs });
    expect(reasonOf(waited)).toBe('challenge bot_solved 303');
  });

  test('a network that guesses is not believed any more', () => {
    const guard = human();
    for (let turn = 0; turn < botLimits.wrongAnswersPerNetwork; turn++) {
      const fine = readPage(browse(guard));
      const solved = browse(guard, answer(fine.token, answerOf(fine), solve(fine)));
      expect(reasonOf(solved)).toBe('challenge bot_solved 303');
      browse(guard, answer(readPage(browse(guard)).token, '1', ''));
    }
    const page = readPage(browse(guard));
    const right = answer(page.token, answerOf(page), solve(page));
    expect(reasonOf(browse(guard, right))).toBe('challenge bot_wrong_answer 403');
  });
});

/** Rises of loudness in a file of 8-bit samples. */
function countTones(file: Buffer): number {
  let [count, silent] = [0, 1_000];
  for (const sample of file.subarray(44)) {
    const loud = Math.abs(sample - 128) > 40;
    if (loud && silent >= 500) count++;
    silent = loud ? 0 : silent + 1;
  }
  return count;
}
