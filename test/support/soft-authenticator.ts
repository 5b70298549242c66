/**
 * An authenticator of passkeys in software, which answers what a browser would, and lies where a
 * test asks it to. Source: Web Authentication Level 3, sections 6.1 and 6.5; RFC 8949 (CBOR).
 */

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** What an answer may claim in place of the truth. */
export interface Claims {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly userVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Signs with a key of its own. */
  readonly otherKey?: boolean;
}

interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** One passkey. */
export class SoftAuthenticator {
  readonly origin: string;
  readonly id = randomBytes(16);
  counter = 0;
  userHandle = '';
  readonly #keys = newKeys();

  constructor(origin: string) {
    this.origin = origin;
  }

  /** The answer to `optionsJson` of a registration. */
  register(optionsJson: string, claims: Claims = {}): string {
    const options = JSON.parse(optionsJson) as Options;
    this.userHandle = options.user?.id ?? '';
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' });
    // COSE: kty EC2, alg ES256, crv P-256, x, y.
    const key = Buffer.concat([
      Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]),
      bytes(Buffer.from(x!, 'base64url')),
      Buffer.from([0x22]),
      bytes(Buffer.from(y!, 'base64url')),
    ]);
    const length = Buffer.from([0, this.id.length]);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, key]);
    const data = Buffer.concat([this.#head(options.rp?.id ?? '', claims, 0x40), attested]);
    const attestation = Buffer.concat([
      ...[Buffer.from([0xa3]), text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0])],
      ...[text('authData'), bytes(data)],
    ]);
    return this.#answer(options, 'webauthn.create', claims, {
      attestationObject: base64url(attestation),
    });
  }

  /** The answer to `optionsJson` of a sign-in. */
  signIn(optionsJson: string, claims: Claims = {}): string {
    const options = JSON.parse(optionsJson) as Options;
    const data = this.#head(options.rpId ?? '', claims, 0);
    const client = this.#client(options, 'webauthn.get', claims);
    const { privateKey } = claims.otherKey === true ? newKeys() : this.#keys;
    const signed = Buffer.concat([data, sha256(client)]);
    return this.#answer(options, 'webauthn.get', claims, {
      authenticatorData: base64url(data),
      signature: base64url(sign('sha256', signed, privateKey)),
      userHandle: claims.userHandle ?? this.userHandle,
    });
  }

  /** Hash of the host, flags (present, verified), counter. */
  #head(rpId: string, claims: Claims, more: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(claims.counter ?? ++this.counter);
    const flags = 0x01 | (claims.userVerified === false ? 0 : 0x04) | more;
    return Buffer.concat([sha256(claims.rpId ?? rpId), Buffer.from([flags]), counter]);
  }

  #client({ challenge }: Options, type: string, claims: Claims): string {
    return JSON.stringify({
      type: claims.type ?? type,
      challenge: claims.challenge ?? challenge,
      origin: claims.origin ?? this.origin,
      crossOrigin: false,
    });
  }

  #answer(options: Options, type: string, claims: Claims, response: object): string {
    const id = base64url(this.id);
    const clientDataJSON = base64url(Buffer.from(this.#client(options, type, claims)));
    return JSON.stringify({
      ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
      response: { clientDataJSON, ...response },
    });
  }
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** A text of CBOR, up to 23 bytes. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 | value.length]), Buffer.from(value)]);
}

/** Bytes of CBOR, up to 255. */
function bytes(value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0x58, value.length]), value]);
}
