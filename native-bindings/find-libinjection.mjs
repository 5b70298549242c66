/**
 * The search for libinjection at build time: prints the linker arguments for binding.gyp, or
 * fails with the name of the system package. Never used at run time. With `--phrases` it prints the
 * first words of the phrases of SQL that the archive knows, with commas between them; nothing for
 * the shared library, which may be replaced by one that knows others.
 *
 * Debian ships libinjection inside libmodsecurity: the static archive holds it as separate objects
 * that need only libc, the shared library exports the same two functions.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The full path the compiler would link `file` from, or undefined when it knows none. */
function findLibrary(file) {
  const compiler = process.env.CXX ?? 'g++';
  const [command, ...prefix] = compiler.split(' ');
  const answer = execFileSync(command, [...prefix, `-print-file-name=${file}`], {
    encoding: 'utf8',
  }).trim();
  return answer === file ? undefined : answer;
}

/** Upper-case words before further ones of a text in the archive; some are no phrases of SQL. */
function firstWords(file) {
  const text = readFileSync(file, 'latin1');
  const found = text.matchAll(/([A-Z][A-Z0-9_.]*) (?=[A-Z][ -~]*\0)/g);
  return [...new Set([...found].map(([, word]) => word))].sort();
}

const archive = findLibrary('libmodsecurity.a');
const shared = archive === undefined ? findLibrary('libmodsecurity.so.3') : undefined;
if (process.argv.includes('--phrases')) {
  console.log(archive === undefined ? '' : firstWords(archive).join());
} else if (archive !== undefined) {
  console.log('-l:libmodsecurity.a');
} else if (shared !== undefined) {
  console.log('-l:libmodsecurity.so.3');
} else {
  console.error(
    'libinjection not found: neither libmodsecurity.a nor libmodsecurity.so.3 is installed.\n' +
      'Install the Debian package libmodsecurity-dev (apt-get install libmodsecurity-dev).',
  );
  process.exit(1);
}
