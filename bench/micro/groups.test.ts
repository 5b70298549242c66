/** Tests that the groups that need no rule set can be run, each task once. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiCheckGroup } from './api-checks.ts';
import { detectionGroup } from './detection.ts';
import { guardGroup } from './guards.ts';
import { httpHeadGroup } from './http-heads.ts';
import { readShapes } from './samples.ts';
import { transformationGroup } from './transformations.ts';

const shapes = readShapes(join(import.meta.dirname, '..', 'workloads'));

test('the shapes are those of the workloads, attacks alone', () => {
  const names = shapes.map(({ name }) => name);
  for (const name of ['small-get', 'get-six-arguments', 'form-1k', 'json-2k', 'attack']) {
    expect(names).toContain(name);
  }
  expect(shapes.find(({ name }) => name === 'attack')!.requests.every((one) => one.attack)).toBe(
    true,
  );
});

test('every guard can be timed', () => {
  const { tasks } = guardGroup(1_000);
  expect(tasks.length).toBe(7);
  for (const task of tasks) void task.run();
});

test('the checks of API documents can be timed', () => {
  const { tasks } = apiCheckGroup(50);
  expect(tasks.length).toBe(4);
  for (const task of tasks) void task.run();
});

test('detectors can be timed, and find nothing in ordinary requests', () => {
  const { tasks } = detectionGroup();
  expect(tasks.length).toBe(7);
  for (const task of tasks) void task.run();
});

test('every transformation and every head can be timed', () => {
  const { tasks } = transformationGroup();
  expect(tasks.length).toBeGreaterThan(100);
  const all = [...tasks, ...httpHeadGroup(shapes).tasks];
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const task of all) void task.run();
});
