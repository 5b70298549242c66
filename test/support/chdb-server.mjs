/**
 * ClickHouse's HTTP interface over chDB, a current ClickHouse within a process: statements in the
 * address or in the body, settings as parameters, errors with their codes. It takes any user, and
 * no query parameters, sessions or compressed bodies: the product uses none.
 *
 *   node test/support/chdb-server.mjs INSTALL DATA PORT
 *
 * INSTALL is a folder in which `npm install chdb` ran.
 * Source: ClickHouse documentation, "HTTP Interface".
 */

import { randomUUID } from 'node:crypto';
import { mkdir, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

const [install = '', data = '', port = ''] = process.argv.slice(2);
const load = createRequire(join(install, 'package.json'));
const { Session } = load('chdb');

/** Parameters of the interface itself; the others are settings of ClickHouse. */
const ownParameters = new Set(['query', 'query_id', 'wait_end_of_query', 'session_id', 'role']);
/** Statements that run at once, each in a session of its own. */
const sessions = 4;

const idle = Array.from({ length: sessions }, () => ({
  session: new Session(data),
  settings: new Map(),
}));
const waiting = [];
const inserts = join(data, 'inserts');
await mkdir(inserts, { recursive: true });

async function withSession(work) {
  const own = idle.pop() ?? (await new Promise((resolve) => waiting.push(resolve)));
  try {
    return await work(own);
  } finally {
    const next = waiting.shift();
    if (next === undefined) idle.push(own);
    else next(own);
  }
}

/** Sessions keep settings; requests do not share them. */
async function useSettings(own, wanted) {
  for (const name of new Set([...own.settings.keys(), ...wanted.keys()])) {
    const value = wanted.get(name);
    if (own.settings.get(name) === value) continue;
    const text = value === undefined ? 'DEFAULT' : `'${value.replace(/[\\']/g, '\\$&')}'`;
    await answer(own, `SET ${name} = ${text}`);
    if (value === undefined) own.settings.delete(name);
    else own.settings.set(name, value);
  }
}

async function answer({ session }, statement) {
  const result = await session.queryAsync(statement, { format: 'TabSeparated' });
  return result.bytes();
}

async function run(parameters, body) {
  const settings = new Map([...parameters].filter(([name]) => !ownParameters.has(name)));
  const query = parameters.get('query');
  return withSession(async (own) => {
    await useSettings(own, settings);
    if (query !== null && body.length > 0) return insert(own, query, body);
    return answer(own, query ?? body.toString('utf8'));
  });
}

/** By way of a file: rows after a statement are cut off where they are too large for one. */
async function insert(own, query, body) {
  const file = join(inserts, randomUUID());
  await writeFile(file, body);
  try {
    const statement = query.replace(/ FORMAT \w+$/, (format) => ` FROM INFILE '${file}'${format}`);
    return await answer(own, statement);
  } finally {
    await unlink(file);
  }
}

async function answerRequest(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/ping') return response.end('Ok.\n');
  response.setHeader('X-ClickHouse-Query-Id', searchParams.get('query_id') ?? randomUUID());
  try {
    response.end(await run(searchParams, await buffer(request)));
  } catch ({ message }) {
    const code = /Code: (\d+)/.exec(message)?.[1] ?? '1002';
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': code });
    response.end(message);
  }
}

const server = createServer((request, response) => void answerRequest(request, response));
server.listen(Number(port), '127.0.0.1');
