/** The proof of signatures of releases: keys and signatures as gpg 2.2 wrote them. */

import { expect, test } from 'vitest';
import { signDetached, testSigner } from '../../../test/support/openpgp-signer.ts';
import { verifyDetached } from './openpgp.ts';

const content = Buffer.from('a release of rules\n');
const rsaFingerprint = '9EB3FCD6C909F8D90CD7513889F6CC21E9518C3B';
const rsaKey = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mQENBGsK3ycBCADE+C/L7LsxFEpNrrCWwlvWod60b7leYTgeeYAh3bojiin6XRCe
SN5HzXlWl++Qlm5gz6MS8UvKDYl8rZn7qIOOOLCJxy02XtlgAMiMluT41N1SoafG
IjgXgVMPQuTfUtmXhmoiCkFO2h/qPdNHaBWGo+uaTPq+3YxMsrVRyxJQsseRU+/R
Ck2bGxILlyL0tDZ4lV7tQt9Ef03DYWY0QHCXJIivvmYhlLFoPquxZilEcHKJis6j
omtyWX14rOT7GqQmIpeUpHZgqR9VF9lUmbbO5ITULsdvouV5y1nMW5OpTiUMaGbS
6ZD6bwo50m6yfLJCBa5ZP3p/6jvUjmM13R4jABEBAAG0H1Rlc3QgcnNhMjA0OCA8
dGVzdEBleGFtcGxlLm9yZz6JAU4EEwEKADgWIQSes/zWyQn42QzXUTiJ9swh6VGM
OwUCawrfJwIbAwULCQgHAgYVCgkICwIEFgIDAQIeAQIXgAAKCRCJ9swh6VGMOwQC
CACvhNOqQCAhjzr9e847F58lwkrVmJ2uKYlxkdfILVHEWOS19Hs08JCVkJKLz/Yy
aiaPDHQjR3M8j2GD99bEWzhWUnZ5PbRQPykMywV3bvHmQXGd61SMf5paYPvTbT9x
9qnBzoSS7JeIA6+mj6G/IGwIJspgjAzGPPGEPebcRW8ohVPedZbJUUTp0xSvP+N1
NlFS/G5dNiW4EQWCKySoeGjzSKV7nOH/UjOj7Q+GFI9D518vNkEag5/qqn336mSr
7VCzR7W+eIe2InB3j2T4irpN4ZRLLoNSniaWaEb1P0uymf53T2DlPvyeFi+EDj8P
DTzv7HI3rQULqB2JyssIUizd
=Z/Fz
-----END PGP PUBLIC KEY BLOCK-----`;
const rsaSignature = `-----BEGIN PGP SIGNATURE-----

iQFFBAABCgAvFiEEnrP81skJ+NkM11E4ifbMIelRjDsFAmsK3ygRHHRlc3RAZXhh
bXBsZS5vcmcACgkQifbMIelRjDtVmgf/ecXtRrN76UcALioFStScMRKzQ8ny2N51
uVEqaWvaejgr9BLL45jH+0vBXLiFnANW183oe5cQe8p5Twk+jMoHnV+mxsJHlvJH
6Bp2AnkaZnhGPu0mh9bVCOfERht/O+tEKF4AJrml/bGNFjvRif6PYo2KumLdNFcH
SYCtBB1q83cCiB3fS4TyieUdNXBbCMxXr9ymzsGfhHfWDG/lKKZ/MtqHH274l5Du
w/z9BBv/XPtIIgd08UF+b7mt4DZ6XlktCLaTzEuRcF5QhJ9/ieGgKC0udVsbl88E
G2tY6m40mJDK5Dv9Tr11aRKxUmpEv/JmccEi0X7hUmHFxAqRWomWXA==
=UXID
-----END PGP SIGNATURE-----`;
const edwardsFingerprint = 'A17143FD3FFE5589AB6E1980C9546A1815DBC2B4';
const edwardsKey = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawrfKBYJKwYBBAHaRw8BAQdAK6HXbZrfWeh2CXF/fmYJtSMgkfTTE5YFfnwP
MfVLgkS0H1Rlc3QgZWQyNTUxOSA8dGVzdEBleGFtcGxlLm9yZz6IkAQTFggAOBYh
BKFxQ/0//lWJq24ZgMlUahgV28K0BQJrCt8oAhsDBQsJCAcCBhUKCQgLAgQWAgMB
Ah4BAheAAAoJEMlUahgV28K02NMBANX0pOi96fbdEGBJdOcW291NqpthOr1BM6SK
bARLO01yAP0YP7dY/6bGAk0Mv2ktIDCjNqgSbEMDLxxpS9UmvNSnBg==
=MSbT
-----END PGP PUBLIC KEY BLOCK-----`;
const edwardsSignature = `-----BEGIN PGP SIGNATURE-----

iIcEABYKAC8WIQShcUP9P/5ViatuGYDJVGoYFdvCtAUCawrfKBEcdGVzdEBleGFt
cGxlLm9yZwAKCRDJVGoYFdvCtJEpAP94oSRx7E8aLKu7jFoshuZzWWbMHMo/iJq9
Apo26+yJ4AD8CT1kXthBjhLDFdVnPivPqZNX9+MhSpF864ormIUXewE=
=e1Tp
-----END PGP SIGNATURE-----`;
const trusted = [rsaFingerprint, edwardsFingerprint];
const laterMs = Date.UTC(2040, 0, 1);

function check(signature: string | Uint8Array, key: string | Uint8Array, file = content): string {
  return verifyDetached(file, Buffer.from(signature), Buffer.from(key), trusted, laterMs);
}

function binary(armored: string): Buffer {
  const lines = armored.split('\n').filter((line) => !/^(?:-|=|$)/.test(line));
  return Buffer.from(lines.join(''), 'base64');
}

test.each([
  ['RSA', rsaSignature, rsaKey, rsaFingerprint],
  ['RSA, binary files', binary(rsaSignature), binary(rsaKey), rsaFingerprint],
  [
    'RSA, lines as Windows ends them',
    rsaSignature.replaceAll('\n', '\r\n'),
    rsaKey,
    rsaFingerprint,
  ],
  ['Ed25519', edwardsSignature, edwardsKey, edwardsFingerprint],
  [
    'two keys in a file',
    edwardsSignature,
    Buffer.concat([binary(rsaKey), binary(edwardsKey)]),
    edwardsFingerprint,
  ],
  [
    'two signatures',
    Buffer.concat([binary(edwardsSignature), binary(rsaSignature)]),
    rsaKey,
    rsaFingerprint,
  ],
])('a signature by gpg is verified: %s', (_name, signature, key, fingerprint) => {
  expect(check(signature, key)).toBe(fingerprint);
});

/** A binary signature with one byte changed. */
function changed(signature: string, at: number): Buffer {
  const bytes = binary(signature);
  bytes[at]! ^= 1;
  return bytes;
}

test.each([
  [
    'another file',
    () => check(rsaSignature, rsaKey, Buffer.from('other')),
    /^signature: is not of this/,
  ],
  ['another trusted key', () => check(rsaSignature, edwardsKey), /^signature: is not of this/],
  [
    'a changed value',
    () => check(changed(rsaSignature, 200), rsaKey),
    /^signature: is not of this/,
  ],
  ['a changed time', () => check(changed(rsaSignature, 40), rsaKey), /^signature: /],
  [
    'a signature of a text',
    () => check(changed(rsaSignature, 4), rsaKey),
    /no version 4 signature of a file/,
  ],
  ['a weak digest', () => check(withByte(rsaSignature, 6, 2), rsaKey), /too weak/],
  ['a key as signature', () => check(rsaKey, rsaKey), /^signature: is no version 4 signature/],
  ['a signature as key', () => check(rsaSignature, rsaSignature), /^publicKey: holds no OpenPGP/],
  ['no OpenPGP at all', () => check('text', rsaKey), /^signature: is no OpenPGP file/],
  [
    'a cut signature',
    () => check(binary(rsaSignature).subarray(0, 90), rsaKey),
    /^signature: is cut short/,
  ],
  [
    'a cut key',
    () => check(rsaSignature, binary(rsaKey).subarray(0, 90)),
    /^publicKey: is cut short/,
  ],
  ['an empty signature', () => check(Buffer.alloc(0), rsaKey), /^signature: is no OpenPGP file/],
  [
    'a file that is too long',
    () => check(Buffer.alloc(300_000, 0x80), rsaKey),
    /^signature: is longer/,
  ],
])('%s is refused', (_name, call, message) => {
  expect(call).toThrow(message);
});

test('a key that no setting trusts is refused with its fingerprint', () => {
  const call = () =>
    verifyDetached(
      content,
      Buffer.from(rsaSignature),
      Buffer.from(rsaKey),
      [edwardsFingerprint],
      0,
    );
  expect(call).toThrow(`publicKey: has the fingerprint ${rsaFingerprint}, which no setting trusts`);
});

test('a signature of the signer of tests is verified until it expires', () => {
  const signer = testSigner();
  const signature = signDetached(signer, content, { atSeconds: 1000, lastsSeconds: 60 });
  const at = (nowMs: number): string =>
    verifyDetached(content, signature, signer.publicKey, [signer.fingerprint], nowMs);
  expect(at(1_059_000)).toBe(signer.fingerprint);
  expect(() => at(1_060_000)).toThrow('signature: has expired');
});

test('a critical part of a signature that is not known is refused', () => {
  const signer = testSigner();
  const signature = signDetached(signer, content, { criticalType: 100 });
  const call = () => verifyDetached(content, signature, signer.publicKey, [signer.fingerprint], 0);
  expect(call).toThrow('signature: has a critical part of type 100');
});

test('no byte of a signature or key makes reading it fail otherwise than by its field', () => {
  const valid = new Set<string>();
  for (const [signature, key] of [
    [binary(rsaSignature), binary(rsaKey)],
    [binary(edwardsSignature), binary(edwardsKey)],
  ] as const) {
    const refusals = (file: Buffer, judge: (changed: Buffer) => string): void => {
      for (let at = 0; at < file.length; at++) {
        for (const value of [0, 1, 4, 0x7f, 0x82, 0xc0, 0xff]) {
          const changed = Buffer.from(file);
          changed[at] = value;
          try {
            valid.add(judge(changed));
          } catch (error) {
            expect(String(error)).toMatch(/(?:signature|publicKey): /);
          }
        }
      }
    };
    refusals(signature, (changed) => check(changed, key));
    refusals(key, (changed) => check(signature, changed));
  }
  expect([...valid].sort()).toEqual([rsaFingerprint, edwardsFingerprint].sort());
});

test.each([2, 3])('a time of a signature that is cut short is refused: part %d', (type) => {
  const signer = testSigner();
  const signature = signDetached(signer, content, { shortType: type });
  const call = () => verifyDetached(content, signature, signer.publicKey, [signer.fingerprint], 0);
  expect(call).toThrow('signature: is cut short');
});

function withByte(signature: string, at: number, value: number): Buffer {
  const bytes = binary(signature);
  bytes[at] = value;
  return bytes;
}
