/** People verified by a service of others: its page, its verdicts, and what stands in for it. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { botLimits, verifierLimits } from '../../../base/guard-limits.ts';
import type { Asked } from '../../../test/support/request-view.ts';
import { browse, gateOf, key, reasonOf, servicesOf } from '../../../test/support/bot-gates.ts';
import { answerOf, cookieOf, readPage, solve } from '../../../test/support/challenge-solver.ts';
import { startVerifierStub, type VerifierStub } from '../../../test/support/verifier-stub.ts';
import type { SharedUses, UseAnswer, VerifierConfig } from '../../contract/bot.ts';
import type { GuardVerdict } from '../../contract/guard.ts';
import type { Guard } from '../guard.ts';
import { RateTable, shareRates } from '../rate-table.ts';
import { Challenges } from './challenges.ts';

let stub: VerifierStub;
beforeEach(async () => {
  stub = await startVerifierStub();
  stub.answer = { success: true, hostname: 'a.example' };
});
afterEach(() => stub.close());

function gate(change: Partial<VerifierConfig> = {}, services = servicesOf()): Guard {
  return gateOf({ mode: 'human_verification', verifier: stub.config(change) }, services);
}

/** Hands in what the service gave; '' for nothing. */
function handIn(
  guard: Guard,
  page: ReturnType<typeof readPage>,
  response = 'given',
  asked: Asked = {},
): GuardVerdict | null {
  const nonce = response === '' ? '' : solve(page);
  const target = `/.waf-check/answer?token=${page.token}&nonce=${nonce}&response=${response}`;
  return browse(guard, { ...asked, target });
}

async function settled(verdict: GuardVerdict | null): Promise<GuardVerdict | null> {
  return (await verdict?.later) ?? verdict;
}

const policyOf = (verdict: GuardVerdict | null): string =>
  verdict?.headers?.find(([name]) => name === 'Content-Security-Policy')?.[1] ?? '';

test('its page loads the script of the service, and nothing else of others', () => {
  const shown = browse(gate());
  const text = shown!.page!.body.toString();
  const origin = `http://127.0.0.1:${stub.port}`;
  expect(text).toContain(`src="${origin}/api.js" defer`);
  expect(text).toContain('class="cf-turnstile" data-sitekey="site-key"');
  expect(text).not.toContain('hidden"');
  expect(text).not.toContain('How much is');
  const sources = `https://challenges.cloudflare.com ${origin}`;
  expect(policyOf(shown)).toContain(`default-src 'none'; script-src 'self' ${sources};`);
  expect(policyOf(shown)).toContain(`frame-src ${sources};`);
  const plain = browse(gateOf({ mode: 'human_verification' }));
  expect(policyOf(plain)).not.toContain('http');
  expect(plain!.page!.body.toString()).not.toContain('vendor');
});

test('a site that checks browsers asks no service', () => {
  const text = browse(gateOf({ verifier: stub.config() }))!.page!.body.toString();
  expect(text).not.toContain(String(stub.port));
});

test('who the service passes is cleared, once', async () => {
  const guard = gate();
  const page = readPage(browse(guard));
  const solved = await settled(handIn(guard, page));
  expect(reasonOf(solved)).toBe('challenge bot_solved 303');
  expect(browse(guard, { fields: [`Cookie: ${cookieOf(solved)}`] })).toBeNull();
  expect(stub.forms.map((form) => form.get('response'))).toEqual(['given']);
  // The challenge again, and what the service gave in another challenge.
  expect(reasonOf(await settled(handIn(guard, page)))).toBe('deny bot_replayed 403');
  const next = readPage(browse(guard));
  const again = await settled(handIn(guard, next));
  expect(reasonOf(again)).toBe('challenge bot_verifier_refused 403');
  expect(again?.detail).toBe('the answer was handed in before');
  expect(stub.forms).toHaveLength(1);
});

test('who the service refuses, or asked elsewhere, is asked again', async () => {
  const guard = gate();
  stub.answer = { success: false, 'error-codes': ['invalid-input-response'] };
  const refused = await settled(handIn(guard, readPage(browse(guard))));
  expect(reasonOf(refused)).toBe('challenge bot_verifier_refused 403');
  expect(refused?.detail).toBe('it refused the visitor: invalid-input-response');
  expect(cookieOf(refused)).toBe('');
  stub.answer = { success: true, hostname: 'evil.example' };
  const elsewhere = await settled(handIn(guard, readPage(refused), 'other'));
  expect(reasonOf(elsewhere)).toBe('challenge bot_verifier_refused 403');
  // After some in a row a plain page ends it.
  const third = await settled(handIn(guard, readPage(elsewhere), 'third'));
  expect(reasonOf(third)).toBe('deny bot_challenge_limit 403');
});

test('a proof is needed before the service is asked, and a wait is none', async () => {
  const guard = gate();
  const page = readPage(browse(guard));
  const target = `/.waf-check/answer?token=${page.token}&response=given&nonce=`;
  expect(reasonOf(browse(guard, { target, afterMs: botLimits.waitMs }))).toBe(
    'challenge bot_proof_needed 403',
  );
  expect(reasonOf(browse(guard, { target: `${target}x` }))).toBe('challenge bot_wrong_proof 403');
  const numbered = { target: `/.waf-check/answer?token=${page.token}&answer=5&nonce=&response=` };
  expect(reasonOf(browse(guard, { ...numbered, afterMs: botLimits.waitMs }))).toBe(
    'challenge bot_verifier_absent 403',
  );
  expect(stub.forms).toEqual([]);
});

test('a network that is refused often is not asked about any more', async () => {
  const guard = gate();
  stub.answer = { success: false };
  const refusals = botLimits.wrongAnswersPerNetwork;
  for (let turn = 0; turn < refusals; turn++) {
    await settled(handIn(guard, readPage(browse(guard)), `given${turn}`));
  }
  expect(stub.forms).toHaveLength(refusals);
  const refused = await settled(handIn(guard, readPage(browse(guard)), 'more'));
  expect(reasonOf(refused)).toBe('challenge bot_verifier_refused 403');
  expect(stub.forms).toHaveLength(refusals);
});

describe('without the service', () => {
  const down = (): void => {
    stub.answer = (response) => response.writeHead(503).end();
  };

  test('one that fails leads to the built-in question, which says why', async () => {
    const guard = gate();
    down();
    const failed = await settled(handIn(guard, readPage(browse(guard))));
    expect(reasonOf(failed)).toBe('challenge bot_verifier_failed 403');
    expect(failed?.detail).toBe('it answered with status 503');
    const question = readPage(failed);
    const target = `/.waf-check/answer?token=${question.token}&nonce=${solve(question)}`;
    const solved = browse(guard, { target: `${target}&answer=${answerOf(question)}` });
    expect(reasonOf(solved)).toBe('challenge bot_solved 303');
    expect(browse(guard, { fields: [`Cookie: ${cookieOf(solved)}`] })).toBeNull();
  });

  test('one that failed in a row is not shown for a while', async () => {
    const guard = gate();
    down();
    for (let turn = 0; turn < verifierLimits.failuresMax; turn++) {
      await settled(handIn(guard, readPage(browse(guard)), `given${turn}`));
    }
    expect(browse(guard)!.page!.body.toString()).toContain('How much is');
    const later = browse(guard, { afterMs: verifierLimits.restMs });
    expect(later!.page!.body.toString()).toContain('cf-turnstile');
  });

  test('a browser that cannot load it gets the question', () => {
    const guard = gate();
    const instead = handIn(guard, readPage(browse(guard)), '');
    expect(reasonOf(instead)).toBe('challenge bot_verifier_absent 403');
    expect(policyOf(instead)).not.toContain('http');
    answerOf(readPage(instead));
  });

  test('strict sites have no way around it', async () => {
    const guard = gate({ fallback: false });
    const page = readPage(browse(guard));
    expect(page.text).not.toContain('data-instead');
    expect(reasonOf(handIn(guard, page, ''))).toBe('deny bot_verifier_absent 403');
    down();
    for (let turn = 0; turn < verifierLimits.failuresMax; turn++) {
      const failed = await settled(handIn(guard, readPage(browse(guard)), `given${turn}`));
      expect(reasonOf(failed)).toBe('deny bot_verifier_failed 403');
      expect(failed?.detail).toBe('it answered with status 503');
    }
    expect(browse(guard)!.page!.body.toString()).toContain('cf-turnstile');
  });
});

test('other nodes are asked, too, and a trial asks nobody', async () => {
  const answers: UseAnswer[] = ['first', 'again'];
  const uses: SharedUses = { use: async () => answers.shift() ?? 'alone' };
  const table = new RateTable(shareRates([1, 2], 16));
  const sharing = { node: '1', uses };
  const services = { ...servicesOf(table), challenges: new Challenges(table, key, sharing) };
  const guard = gate({}, services);
  const hand = (response: string, asked: Asked = {}) =>
    settled(handIn(guard, readPage(browse(guard)), response, asked)).then(reasonOf);
  expect(await hand('one')).toBe('challenge bot_solved 303');
  expect(await hand('two')).toBe('deny bot_replayed 403');
  expect(await hand('three')).toBe('challenge bot_solved_alone 303');
  expect(stub.forms).toHaveLength(3);
  expect(await hand('four', { trial: true })).toBe('deny bot_verifier_not_asked 403');
  expect(stub.forms).toHaveLength(3);
});

test('a new demand voids clearances; a new secret does not', async () => {
  const services = servicesOf();
  const solved = await settled(handIn(gate({}, services), readPage(browse(gate({}, services)))));
  const fields = [`Cookie: ${cookieOf(solved)}`];
  expect(browse(gate({ secret: 'newer' }, services), { fields })).toBeNull();
  expect(browse(gate({ fallback: false }, services), { fields })).not.toBeNull();
  const builtIn = gateOf({ mode: 'human_verification' }, services);
  expect(browse(builtIn, { fields })).not.toBeNull();
});
