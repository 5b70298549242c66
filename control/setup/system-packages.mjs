/**
 * The list of system packages, why each is needed, and their installation through apt-get. Never
 * starts a service: servers that tests bring up themselves are installed at rest.
 */

import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, say, SetupError, tail } from './process.mjs';

const servicePolicy = '/usr/sbin/policy-rc.d';

const onPath = (name) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const libraryFolders = () => {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/local/lib'];
  try {
    for (const name of readdirSync('/usr/lib')) {
      if (name.endsWith('-linux-gnu')) folders.push(join('/usr/lib', name));
    }
  } catch {
    // No /usr/lib: nothing will be found, and the list below says what is missing.
  }
  return folders;
};
const anyLibrary = (...names) =>
  libraryFolders().some((folder) => names.some((name) => existsSync(join(folder, name))));
const anyHeader = (...names) =>
  ['/usr/include', '/usr/local/include'].some((folder) =>
    names.some((name) => existsSync(join(folder, name))),
  );

const anyFile = (folder, pattern) => {
  try {
    return readdirSync(folder).some((name) => pattern.test(name));
  } catch {
    return false;
  }
};

/** Every package with the reason that is printed and a check that costs a few file look-ups. */
export const systemPackages = [
  {
    name: 'libhyperscan-dev',
    why: 'scans for all rule patterns at once',
    present: () => anyHeader('hs/hs.h') && anyLibrary('libhs.so'),
  },
  {
    name: 'libpcre2-dev',
    why: 'the few patterns with look-around or back-references',
    present: () => anyHeader('pcre2.h') && anyLibrary('libpcre2-8.so'),
  },
  {
    name: 'libre2-dev',
    why: 'decides whether a pattern matches, in linear time',
    present: () => anyHeader('re2/re2.h') && anyLibrary('libre2.so'),
  },
  {
    name: 'libnghttp2-dev',
    why: 'HTTP/2 towards clients',
    present: () => anyHeader('nghttp2/nghttp2.h') && anyLibrary('libnghttp2.so'),
  },
  {
    name: 'libzstd-dev',
    why: 'decodes request bodies that clients compress with Zstandard',
    present: () => anyHeader('zstd.h') && anyLibrary('libzstd.so'),
  },
  {
    name: 'libmodsecurity-dev',
    why: 'carries libinjection (@detectSQLi, @detectXSS)',
    present: () => anyLibrary('libmodsecurity.a', 'libmodsecurity.so.3'),
  },
  {
    name: 'modsecurity-crs',
    why: 'the OWASP Core Rule Set 3.3, the default ruleset',
    present: () =>
      existsSync('/usr/share/modsecurity-crs/rules') &&
      existsSync('/etc/modsecurity/crs/crs-setup.conf'),
  },
  { name: 'pkg-config', why: 'finds the libraries', present: () => onPath('pkg-config') },
  { name: 'g++', why: 'compiles the native addon', present: () => onPath('g++') },
  { name: 'make', why: 'builds the native addon', present: () => onPath('make') },
  { name: 'python3', why: 'node-gyp is written for it', present: () => onPath('python3') },
];

/** Packages that only `npm test` uses; without them the tests that need them are skipped. */
export const testPackages = [
  {
    name: 'freeradius',
    why: 'sign-in by RADIUS is tested against it, on loopback',
    present: () => existsSync('/usr/sbin/freeradius'),
  },
  {
    name: 'pebble',
    why: 'certificates are ordered from it, a test authority, on loopback',
    present: () => onPath('pebble'),
  },
  {
    name: 'chromium-headless-shell',
    why: 'the console is used and challenges are solved in it, on loopback',
    present: () => onPath('chromium-headless-shell'),
  },
  {
    name: 'rsyslog',
    why: 'events are sent to it as to a SIEM, on loopback',
    present: () => existsSync('/usr/sbin/rsyslogd'),
  },
  {
    name: 'rsyslog-openssl',
    why: 'the same with TLS',
    present: () => anyLibrary('rsyslog/lmnsd_ossl.so'),
  },
  {
    name: 'sqlite3',
    why: 'says which mutants of SQL injections act',
    present: () => onPath('sqlite3'),
  },
  {
    name: 'redis-server',
    why: 'rate limits are shared through it, on loopback',
    present: () => onPath('redis-server'),
  },
  {
    name: 'postgresql',
    why: 'controllers share a store in it, on loopback',
    present: () =>
      anyFile('/usr/lib/postgresql', /^\d+$/) &&
      readdirSync('/usr/lib/postgresql').some((version) =>
        existsSync(`/usr/lib/postgresql/${version}/bin/postgres`),
      ),
  },
  {
    name: 'clickhouse-server',
    why: 'events are kept in it, on loopback; 100 MB',
    present: () => existsSync('/usr/sbin/clickhouse-server'),
  },
  {
    name: 'php-cli',
    why: 'what the rules inspect is compared with what PHP reads',
    present: () => onPath('php'),
  },
  {
    name: 'php-xml',
    why: 'the same for XML documents',
    present: () => anyFile('/usr/share', /^php\d.*-xml$/),
  },
  {
    name: 'python3-flask',
    why: 'the same for Flask',
    present: () => existsSync('/usr/lib/python3/dist-packages/flask'),
  },
  {
    name: 'python3-django',
    why: 'the same for Django',
    present: () => existsSync('/usr/lib/python3/dist-packages/django'),
  },
  {
    name: 'nginx',
    why: 'paths are compared with what it reads, on loopback',
    present: () => existsSync('/usr/sbin/nginx'),
  },
  {
    name: 'golang-go',
    why: 'bodies and paths are compared with what it reads, on loopback',
    present: () => onPath('go'),
  },
  {
    name: 'libtomcat10-embed-java',
    why: 'paths are compared with what Tomcat reads, on loopback',
    present: () => existsSync('/usr/share/java/tomcat10-embed-core.jar'),
  },
  {
    name: 'default-jdk-headless',
    why: 'compiles and runs what starts Tomcat; 80 MB',
    present: () => onPath('javac'),
  },
  {
    name: 'python3-h2',
    why: 'field cases speak HTTP/2 with it, on loopback',
    present: () => existsSync('/usr/lib/python3/dist-packages/h2'),
  },
];

/** Installs the packages of the tests. When that fails, prints a note and continues. */
export async function ensureTestPackages(packages = testPackages) {
  try {
    await ensureSystemPackages(packages);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`tests will be skipped: ${error.message.split('\n', 1)[0]}`);
  }
}

/** Installs what is missing. Errors: SetupError that holds the exact list where it cannot. */
export async function ensureSystemPackages(packages = systemPackages) {
  const missing = packages.filter((one) => !one.present());
  if (missing.length === 0) return;
  const names = missing.map((one) => one.name);
  say(`system packages missing: ${names.length}`);
  for (const { name, why } of missing) process.stderr.write(`         ${name}: ${why}\n`);

  if (!onPath('apt-get')) throw new SetupError(otherSystem(missing));
  const root = process.getuid?.() === 0;
  if (!root && !onPath('sudo')) {
    throw new SetupError(
      'Installing them needs root. Run this, then start again:\n' +
        `  apt-get install -y ${names.join(' ')}`,
    );
  }
  const prefix = root ? [] : ['sudo'];
  if (!hasPackageLists()) {
    say('apt-get update');
    await apt(prefix, ['update']);
  }
  say(`apt-get install ${names.join(' ')}`);
  const install = ['install', '-y', '--no-install-recommends', ...names];
  await withoutServices(prefix, async () => {
    const first = await apt(prefix, install, true);
    if (first === 0) return;
    // Old package lists name versions that are gone from the mirror.
    await apt(prefix, ['update']);
    await apt(prefix, install);
  });
  const still = missing.filter((one) => !one.present()).map((one) => one.name);
  if (still.length > 0) {
    throw new SetupError(
      `apt-get reported success, but these are still missing: ${still.join(', ')}`,
    );
  }
}

/** Debian's own switch against starting services on installation, set where nobody has set one. */
async function withoutServices(prefix, work) {
  if (existsSync(servicePolicy)) return work();
  const asRoot = (script) => {
    const [command, ...rest] = [...prefix, 'sh', '-c', script];
    return run(command, rest);
  };
  await asRoot(`printf '#!/bin/sh\\nexit 101\\n' > ${servicePolicy} && chmod 755 ${servicePolicy}`);
  try {
    return await work();
  } finally {
    await asRoot(`rm -f ${servicePolicy}`);
  }
}

function otherSystem(missing) {
  const list = missing.map(({ name, why }) => `  ${name}  (${why})`).join('\n');
  return (
    'There is no apt-get here. Install what these Debian packages hold, then start again:\n' + list
  );
}

function hasPackageLists() {
  try {
    return readdirSync('/var/lib/apt/lists').some(
      (name) => name.endsWith('_Packages') || name.endsWith('.lz4'),
    );
  } catch {
    return false;
  }
}

async function apt(prefix, args, mayFail = false) {
  const [command, ...rest] = [
    ...prefix,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    ...args,
  ];
  const { code, output } = await run(command, rest);
  if (code !== 0 && !mayFail) {
    throw new SetupError(
      `apt-get ${args[0]} failed:\n${tail(output)}\nTry: apt-get ${args.join(' ')}`,
    );
  }
  return code;
}
