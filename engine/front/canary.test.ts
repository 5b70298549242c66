/** The proof of who goes to the second pool of a route by its weight. */

import { describe, expect, test } from 'vitest';
import { Canary } from './canary.ts';

const head = { spans: new Int32Array(9), fieldCount: 0 };
const clients = Array.from({ length: 20_000 }, (_, at) => `10.${at >> 8}.${at & 255}.7`);

function goers(weight: number, siteId = 'site'): Set<string> {
  const upstream = { id: 'next', scheme: 'http' as const, endpoints: [] };
  const canary = new Canary({ upstream, weight, headerName: '', cookieName: '' }, siteId);
  const goes = (ip: string) => canary.takes(Buffer.alloc(0), head, ip);
  return new Set(clients.filter(goes));
}

describe('by weight', () => {
  test.each([0, 1, 10, 50, 99, 100])('%i percent of the clients go there', (weight) => {
    const share = (goers(weight).size / clients.length) * 100;
    expect(Math.abs(share - weight)).toBeLessThan(weight === 0 || weight === 100 ? 1e-9 : 1.5);
  });

  test('a client stays where it is, and who went there stays at a higher weight', () => {
    expect(goers(10)).toEqual(goers(10));
    const more = goers(30);
    expect([...goers(10)].filter((ip) => !more.has(ip))).toEqual([]);
  });

  test('each site has clients of its own', () => {
    const [one, other] = [goers(50), goers(50, 'other')];
    const both = [...one].filter((ip) => other.has(ip)).length / clients.length;
    expect(both).toBeGreaterThan(0.2);
    expect(both).toBeLessThan(0.3);
  });

  test('IPv6 clients are spread, too', () => {
    const upstream = { id: 'next', scheme: 'http' as const, endpoints: [] };
    const config = { upstream, weight: 50, headerName: '', cookieName: '' };
    const canary = new Canary(config, 'site');
    const ips = Array.from({ length: 4_000 }, (_, at) => `2001:db8:${at.toString(16)}::1`);
    const found = ips.filter((ip) => canary.takes(Buffer.alloc(0), head, ip));
    expect(Math.abs(found.length / ips.length - 0.5)).toBeLessThan(0.05);
  });
});
