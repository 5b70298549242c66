/** An instrumented copy of the compiled program, in a folder of its own beside the sources. */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { transformSync } from 'esbuild';
import { instrument, type CountedFunction } from './count-calls.ts';

/** Where it is, and what may be entered. */
export interface InstrumentedCopy {
  readonly folder: string;
  readonly known: readonly CountedFunction[];
}

/** Counted; what the benches and generated code consist of is not. */
const counted = ['base', 'engine', 'control', 'native-bindings'];
const plain = ['proto'];
/** They have builds of their own. */
const apart = [join('control', 'console'), join('control', 'setup')];

/** Makes it below `folder`, whose content it replaces. Cost: some 20 seconds. */
export function makeCopy(root: string, folder: string): InstrumentedCopy {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root)) {
    if (!name.startsWith('.')) symlinkSync(join(root, name), join(folder, name));
  }
  // Assets, and what compiles in other ways.
  cpSync(join(root, '.build'), join(folder, '.build'), { recursive: true });
  const known: CountedFunction[] = [];
  for (const name of [...counted, ...plain]) {
    for (const file of sourcesBelow(join(root, name))) {
      const path = relative(root, file);
      if (apart.some((one) => path.startsWith(one + sep))) continue;
      const text = readFileSync(file, 'utf8');
      const target = join(folder, '.build', path.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, compile(counted.includes(name) ? instrument(path, text, known) : text));
    }
  }
  return { folder, known };
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.d|\.test)\.ts$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
}

function compile(text: string): string {
  const { code } = transformSync(text, {
    loader: 'ts',
    target: 'node20.19',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return code.replaceAll(/((?:\bfrom|\bimport)\s*\(?\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"');
}
