/** Proves how overrides grow and shrink, and which have no effect. */

import { expect, test } from 'vitest';
import type { RuleOverrideJson } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import {
  addToOverride,
  refuseUnmatchable,
  refuseUnread,
  removeFromOverride,
} from './rule-override-change.ts';

const plain = 'RULE_OVERRIDE_ACTION_DEFAULT' as const;
const logOnly = 'RULE_OVERRIDE_ACTION_LOG_ONLY' as const;
const disable = 'RULE_OVERRIDE_ACTION_DISABLE' as const;
const score = 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE' as const;

const before: RuleOverrideJson = {
  actionEnum: logOnly,
  removedTargets: ['ARGS:id'],
  addedTargets: ['REQUEST_BODY'],
  tags: ['shop'],
  rationale: 'ticket 1',
};

test('an exclusion adds to what is there and keeps its action', () => {
  const asked = { actionEnum: plain, removedTargets: ['ARGS:q', 'ARGS:id'], rationale: 'ticket 2' };
  expect(addToOverride(before, asked, 'o')).toEqual({
    ...before,
    removedTargets: ['ARGS:id', 'ARGS:q'],
    rationale: 'ticket 1\nticket 2',
  });
  const again = addToOverride(before, { actionEnum: plain, rationale: 'ticket 1' }, 'o');
  expect(again).toEqual(before);
});

test('an action that is stated takes the place of the present one; lists stay', () => {
  expect(addToOverride(before, { actionEnum: disable }, 'o')).toEqual({
    ...before,
    actionEnum: disable,
  });
  const scored = addToOverride(before, { actionEnum: score, scoreOverride: 2 }, 'o');
  expect(scored).toEqual({ ...before, actionEnum: score, scoreOverride: 2 });
  expect(addToOverride(scored, { actionEnum: plain }, 'o')).toEqual(scored);
  expect(addToOverride(scored, { actionEnum: logOnly }, 'o')).toEqual(before);
  const off = { ...before, actionEnum: disable };
  expect(() => addToOverride(off, { actionEnum: plain, removedTargets: ['ARGS'] }, 'o')).toThrow(
    /^o\.removedTargets: the rule is disabled there/,
  );
});

test('what is named goes, and an override that says nothing goes with it', () => {
  const asked = { removedTargets: ['ARGS:id'], addedTargets: ['REQUEST_BODY'], tags: ['shop'] };
  expect(removeFromOverride(before, { tags: ['shop'] }, 'o')).toEqual({ ...before, tags: [] });
  expect(removeFromOverride(before, asked, 'o')).toMatchObject({ actionEnum: logOnly });
  expect(removeFromOverride({ ...before, actionEnum: plain }, asked, 'o')).toBeNull();
  expect(() => removeFromOverride(before, { removedTargets: ['ARGS:x'] }, 'o')).toThrow(
    /^o\.removedTargets\[0\]: is not part of the override/,
  );
});

const targets = [
  'REQUEST_COOKIES',
  '!REQUEST_COOKIES:__utm',
  'ARGS_NAMES',
  'ARGS:id',
  '&FILES',
  'REQUEST_HEADERS:User-Agent',
  'TX:/^x/',
];

test.each([
  ['REQUEST_COOKIES', '', true],
  ['REQUEST_COOKIES:session', '', true],
  ['REQUEST_COOKIES:__utm', '', false],
  ['ARGS_NAMES:a', '', true],
  ['ARGS:id', '', true],
  ['ARGS:ID', '', true],
  ['ARGS', '', true],
  ['ARGS:q', '', false],
  ['ARGS:/^i/', '', true],
  ['ARGS_GET:id', '', false],
  ['REQUEST_HEADERS:user-agent', '', true],
  ['REQUEST_HEADERS:Referer', '', false],
  ['&FILES', '', true],
  ['TX:xy', '', true],
  ['XML', '', false],
  ['REQUEST_BODY', '/path', false],
])('leaving out %s (scope "%s") has an effect: %s', (target, scope, hasEffect) => {
  const check = () => refuseUnread({ removedTargets: [target], scope }, targets, 'o');
  if (hasEffect) expect(check).not.toThrow();
  else expect(check).toThrow(/^o\.removedTargets\[0\]: the rule does not read it.*REQUEST_COOKIES/);
});

test('an expression leaves out names, too, but not under a path', () => {
  const override = { removedTargets: ['ARGS:/^x/'] };
  refuseUnread(override, ['ARGS_NAMES'], 'o');
  expect(() => refuseUnread({ ...override, scope: '/a' }, ['ARGS_NAMES'], 'o')).toThrow(
    /ARGS_NAMES/,
  );
  expect(() => refuseUnread(override, [], 'o')).toThrow(/it reads no variable/);
});

test.each(['/a//b', '/a/../b', '/a/.', '/..', '/api/*', '/./a'])(
  '%s matches no request',
  (scope) => {
    expect(() => refuseUnmatchable(scope, 'o.scope')).toThrow(/^o\.scope: /);
  },
);

test.each(['', '/', '/a', '/a/', '/a.b/c', '/.well-known', '/a/..b'])('%s can match', (scope) => {
  expect(() => refuseUnmatchable(scope, 'o.scope')).not.toThrow();
});
