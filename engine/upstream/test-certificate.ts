/** A throw-away certificate for tests, made anew each time so that no key lies in the tree. */

import { createSign, generateKeyPairSync } from 'node:crypto';

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const header = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(header), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts);
const bitString = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));
const commonNameId = Buffer.from('0603550403', 'hex');
const subjectAltNameId = Buffer.from('0603551d11', 'hex');
const ecdsaWithSha256Id = Buffer.from('06082a8648ce3d040302', 'hex');

/** A self-signed certificate (RFC 5280) for `name`, and its key; both PEM. `ends` as YYMMDD. */
export function makeCertificate(
  name: string,
  ends = '491231',
): { certificatePem: string; privateKeyPem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = sequence(ecdsaWithSha256Id);
  const subject = sequence(set(sequence(commonNameId, der(0x0c, Buffer.from(name)))));
  const names = sequence(der(0x82, Buffer.from(name)));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    subject,
    sequence(utcTime('200101000000Z'), utcTime(`${ends}235959Z`)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(subjectAltNameId, der(0x04, names)))),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const certificate = sequence(body, algorithm, bitString(signature)).toString('base64');
  const lines = certificate.match(/.{1,64}/g)!.join('\n');
  return {
    certificatePem: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
