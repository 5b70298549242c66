/** Tests that what is said of the machine is never an error message of a program. */

import { expect, test } from 'vitest';
import { commitOf, describeMachine, readMachineFacts } from './machine-facts.ts';

test('a commit is named, a complaint of git is not', () => {
  expect(commitOf('a1b2c3d\n')).toBe('a1b2c3d');
  expect(commitOf('fatal: not a git repository (or any of the parent directories): .git')).toBe('');
  expect(commitOf('')).toBe('');
});

test('programs that are not there have no version', () => {
  const facts = readMachineFacts({ node: ['node', '--version'], none: ['no-such-program-here'] });
  expect(Object.keys(facts.versions)).toEqual(['node']);
  expect(facts.cpus).toBeGreaterThan(0);
  expect(describeMachine({ ...facts, commit: '' })).toMatch(/; \d{4}-\d\d-\d\d$/);
});
