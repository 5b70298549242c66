/** Clients that connect while the engine is killed or restarted wait; none is refused. */

import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

/** Milliseconds between two clients. */
const everyMs = 5;
const clientsMax = 400;
/** More that wait at once, for however slow a start, would be an overload, which is shed. */
const waitingMax = 48;
/** Clients whose connections stay. */
const stayingClients = 8;
/** Clients that are served before what happens, and again after it. */
const clientsAround = 50;

/** How one client fared. */
interface Visit {
  readonly outcome: string;
  readonly beganMs: number;
  readonly tookMs: number;
}

function visit(port: number): Promise<Visit> {
  const beganMs = performance.now();
  return new Promise((resolve) => {
    const end = (outcome: string): void =>
      resolve({ outcome, beganMs, tookMs: performance.now() - beganMs });
    const client = connect(port, '127.0.0.1');
    let answer = '';
    client.setEncoding('latin1');
    client.on('data', (text: string) => (answer += text));
    client.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'));
    client.on('close', () => end(answer.slice(9, 12) || 'closed'));
    client.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
  });
}

/** Asks on a connection that stays; `Connection` of the answer, or the error. */
function askAgain(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, agent }, (answer) => {
      const { statusCode = 0, headers } = answer;
      answer.resume();
      answer.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
      answer.on('end', () => resolve(`${statusCode} ${headers.connection ?? 'stays'}`));
    }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  });
}

/** Clients that ask again and again on connections of their own while `work` lasts. */
async function askDuring(port: number, work: () => Promise<void>): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let over = false;
  const client = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!over) {
      const outcome = await askAgain(port, agent);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    agent.destroy();
  };
  const clients = Array.from({ length: stayingClients }, client);
  await work();
  over = true;
  await Promise.all(clients);
  return counts;
}

/** Sends clients, one every few milliseconds, before, during and after `work`. */
async function visitDuring(port: number, work: () => Promise<void>): Promise<Visit[]> {
  const visits: Promise<Visit>[] = [];
  let ended = 0;
  let most = clientsMax;
  const come = (): void => {
    if (visits.length < most && visits.length - ended < waitingMax)
      visits.push(visit(port).finally(() => ended++));
  };
  const coming = setInterval(come, everyMs);
  await eventually(() => ended >= clientsAround);
  await work();
  most = visits.length + clientsAround;
  await eventually(() => ended >= most);
  clearInterval(coming);
  return Promise.all(visits);
}

function outcomes(visits: readonly Visit[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome } of visits) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}

const answered = (outcome: string): boolean => outcome === '200';

describe.skipIf(missingBuild !== null)('the engine is replaced under load', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct('--workers', '2');
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
  });

  const engine = (): number => product.childPid('engine/main.js');
  /** Resolves when another engine than `before` answers. */
  const replaced = async (before: number): Promise<void> => {
    await eventually(() => engine() !== 0 && engine() !== before);
    await eventually(async () => (await visit(product.proxyPort)).outcome === '200');
  };

  test('kill -9 refuses nobody; only clients that were being served are cut off', async () => {
    const before = engine();
    let deadMs = 0;
    const visits = await visitDuring(product.proxyPort, async () => {
      process.kill(before, 'SIGKILL');
      await eventually(() => engine() !== before);
      deadMs = performance.now();
      await replaced(before);
    });
    const counts = outcomes(visits);
    const longest = Math.max(...visits.map(({ tookMs }) => tookMs));
    console.log(`kill -9: ${visits.length} clients, longest ${Math.round(longest)} ms`, counts);
    expect(counts.get('ECONNREFUSED') ?? 0).toBe(0);
    for (const { outcome, beganMs } of visits) {
      // A client whose connection the dead engine had accepted is lost with it.
      if (!answered(outcome)) expect(beganMs).toBeLessThan(deadMs);
    }
    // It is no fault of control that streams of a dead engine end in the middle.
    expect(product.output()).toContain('"node disconnected"');
    expect(product.output()).not.toContain('an RPC failed');
  });

  test('a restart for an upgrade cuts nobody off', async () => {
    const before = engine();
    const supervisor = Number(
      /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${before}/status`, 'utf8'))?.[1],
    );
    let visits: Visit[] = [];
    const again = await askDuring(product.proxyPort, async () => {
      visits = await visitDuring(product.proxyPort, async () => {
        process.kill(supervisor, 'SIGUSR2');
        await replaced(before);
      });
    });
    console.log(`restart: ${visits.length} clients`, outcomes(visits), again);
    expect(visits.filter(({ outcome }) => !answered(outcome))).toEqual([]);
    // Each connection that stayed ended once.
    expect([...again.keys()].toSorted()).toEqual(['200 close', '200 stays']);
  });

  test('a product that stopped refuses clients', async () => {
    await product.stop();
    expect((await visit(product.proxyPort)).outcome).toBe('ECONNREFUSED');
  });
});
