/** Tasks in fields of code: lines have numbers, and a fault is shown at its place. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { apiDocuments } from '../../support/api-documents.ts';
import { eventually } from '../../support/eventually.ts';
import type { Desk } from './desk.ts';
import type { Task } from './task.ts';

/** What the focused area of code shows: its numbers, the one that is marked, what is selected. */
interface Code {
  readonly numbers: string;
  readonly wrong: string;
  readonly selected: string;
}

/** Runs in the page; null where no such area has the focus. */
const focusedCode = `(() => {
  const area = document.activeElement;
  const numbers = area?.parentElement?.querySelector('.code-lines');
  if (area?.tagName !== 'TEXTAREA' || numbers === null) return null;
  return {
    numbers: numbers.textContent.trim().split('\\n').join(' '),
    wrong: numbers.querySelector('mark')?.textContent.trim() ?? '',
    selected: area.value.slice(area.selectionStart, area.selectionEnd),
  };
})()`;

const codeOf = (desk: Desk): Promise<Code | null> =>
  desk.page.evaluate(focusedCode) as Promise<Code | null>;

/** Waits until line 2 of the focused area is marked, and the rest of it selected. */
async function showsLineTwo(desk: Desk, text: string): Promise<void> {
  const code = await eventually(async () => {
    const found = await codeOf(desk);
    return found?.wrong === '2' && found;
  });
  const lines = text.split('\n');
  expect(code.numbers).toBe(lines.map((_, at) => at + 1).join(' '));
  expect(lines[1]!.endsWith(code.selected)).toBe(true);
  expect(code.selected).not.toBe('');
}

/** The table. */
export const codeTasks: readonly Task[] = [
  {
    id: 'code-rule',
    page: 'Policies',
    does: 'writes two rules, the second with a fault, and mends it',
    expects: 'the fault is marked at its line and selected; Tab leaves the text; then it is saved',
    run: async (desk, world) => {
      const form = 'Add a rule';
      await desk.go(`/policies/${await world.policy('With code')}?tab=rules`);
      await desk.press(form);
      const first = `SecRule ARGS "@contains one" "id:10001,phase:2,pass"`;
      const faulty = `${first}\nSecRule ARGS "@contains two" id:10002,phase:2,"pass`;
      await desk.fill('Name', 'Two', form);
      await desk.fill('SecLang', faulty, form);
      await desk.press('Add', form);
      await showsLineTwo(desk, faulty);
      await desk.page.keyboard.press('Tab');
      expect(await codeOf(desk)).toBeNull();
      await desk.fill('SecLang', first, form);
      await desk.press('Add', form);
      await desk.shows('Saved. Compiling rules…');
      expect(await desk.page.$('main .code-lines mark')).toBeNull();
    },
  },
  {
    id: 'code-document',
    page: 'APIs',
    does: 'chooses a file with a fault as the document of an API, and corrects it in place',
    expects: 'the text is there, with the fault marked at its line; the corrected one is kept',
    run: async (desk, world) => {
      const form = 'Upload';
      const faulty = '{ "openapi": "3.0.0",\n  "openapi": "3.1.0",\n  "paths": {} }';
      const file = join(mkdtempSync(join(tmpdir(), 'waf-document-')), 'faulty.json');
      writeFileSync(file, faulty);
      await desk.go(`/apis?site=${await world.site('corrected')}`);
      await desk.fill('Name', 'Corrected', form);
      await desk.choose('Format', 'JSON', form);
      await (await desk.page.$('input[type=file]'))!.uploadFile(file);
      await eventually(async () => (await desk.held('Text of the document', form)) === faulty);
      await desk.press('Upload', form);
      await showsLineTwo(desk, faulty);
      await desk.fill('Text of the document', apiDocuments['pets']!, form);
      await desk.press('Upload', form);
      await desk.shows('2. Review');
    },
  },
];
