/** The table of rules is that of Debian's CRS 3. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { builtInCrsFolder, readRulesetFolder } from './ruleset-folder.ts';
import { describeRules } from '../../domain/policy/crs-rules.ts';
import { crs3XmlRules } from '../../domain/policy/crs3-xml-rules.ts';

test.skipIf(!existsSync(builtInCrsFolder))('every rule that looks at XML, and no other', () => {
  const { files } = readRulesetFolder(builtInCrsFolder);
  const texts = files
    .filter((file) => path.extname(file.path) === '.conf')
    .map((file) => ({ path: file.path, text: Buffer.from(file.content).toString('latin1') }));
  const found = describeRules(texts, 'debian').filter(({ targets = [] }) =>
    targets.includes('XML:/*'),
  );
  expect(found.map(({ ruleId }) => ruleId).toSorted((left, right) => left - right)).toEqual(
    crs3XmlRules,
  );
});
