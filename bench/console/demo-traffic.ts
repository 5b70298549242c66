/** The recorded traffic of the pictures: what clients of a shop and attackers send. */

import { request } from 'node:http';

const ordinary = [
  ...['/', '/products', '/products/17', '/products/17/reviews', '/search?q=garden+chair'],
  ...['/cart', '/checkout', '/login', '/assets/site.css', '/assets/site.js', '/api/stock?item=17'],
  ...['/search?q=table+oak', '/products/23', '/about', '/api/prices?items=17,23,31'],
];
const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** By the last number of the client's address: what it sends, and how often it comes. */
const attackers = [
  { client: 31, times: 9, agent, path: "/products?id=1' UNION SELECT name, password FROM users--" },
  { client: 31, times: 5, agent, path: "/login?user=admin' OR '1'='1" },
  {
    client: 44,
    times: 7,
    agent,
    path: '/search?q=<script>document.location="//x.example"</script>',
  },
  { client: 57, times: 6, agent: 'sqlmap/1.8', path: '/products/17?sort=price' },
  { client: 57, times: 4, agent, path: '/download?file=../../../../etc/passwd' },
  { client: 63, times: 3, agent, path: '/tools/ping?host=127.0.0.1;cat /etc/passwd' },
  { client: 70, times: 2, agent, path: '/index.php?page=php://filter/convert.base64-encode' },
] as const;

/** One request of the record. */
interface Sent {
  readonly client: number;
  readonly agent: string;
  readonly path: string;
}

/** The record: ordinary requests with attacks among them, the same at each run. */
function record(): readonly Sent[] {
  const usual = Array.from({ length: 420 }, (_, index) => ({
    client: 100 + (index % 40),
    agent,
    path: ordinary[(index * 7) % ordinary.length]!,
  }));
  const hostile = attackers.flatMap((one) => Array.from({ length: one.times }, () => one));
  const step = Math.floor(usual.length / hostile.length);
  return usual.flatMap((one, index) => {
    const attack = index % step === 0 ? hostile[(index / step) % hostile.length] : undefined;
    return attack === undefined ? [one] : [one, attack];
  });
}

/** Sends the record to a proxy, spread over a time; resolves with how many were refused. */
export async function sendRecord(port: number, host: string, seconds: number): Promise<number> {
  let refused = 0;
  const all = record();
  for (const [index, one] of all.entries()) {
    if ((await send(port, host, one)) === 403) refused += 1;
    // More in the middle than at the ends, as on a day.
    const share = 1 + Math.cos((2 * Math.PI * index) / all.length);
    await new Promise((resolve) => setTimeout(resolve, (share * seconds * 1000) / all.length));
  }
  return refused;
}

function send(port: number, host: string, { client, agent: name, path }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'user-agent': name, accept: '*/*' };
    const localAddress = `127.0.0.${client}`;
    const options = { host: '127.0.0.1', port, path: encodeURI(path), headers, localAddress };
    request({ ...options, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}
