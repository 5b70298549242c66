/**
 * The search for libinjection at build time: prints the linker arguments for binding.gyp, or
 * fails with the name of the system package. Never used at run time.
 *
 * Debian ships libinjection inside libmodsecurity: the static archive holds it as separate objects
 * that need only libc, the shared library exports the same two functions.
 */
import { execFileSync } from 'node:child_process';

/** The full path the compiler would link `file` from, or undefined when it knows none. */
function findLibrary(file) {
  const compiler = process.env.CXX ?? 'g++';
  const [command, ...prefix] = compiler.split(' ');
  const answer = execFileSync(command, [...prefix, `-print-file-name=${file}`], {
    encoding: 'utf8',
  }).trim();
  return answer === file ? undefined : answer;
}

const archive = findLibrary('libmodsecurity.a');
const shared = archive === undefined ? findLibrary('libmodsecurity.so.3') : undefined;
if (archive !== undefined) {
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
