/**
 * Seals texts that clients carry for us: AES-256-GCM under keys that all nodes of a deployment
 * share. What was sealed for one purpose or site does not open for another.
 */

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { ChallengeKey } from '../../contract/bot.ts';

const cipher = 'aes-256-gcm';
/** Names the key that sealed a text, so that no other one is tried. */
const nameBytes = 4;
const ivBytes = 12;
const tagBytes = 16;

/** How sealed bytes are written. Hex for cookies: rules find no attack in it. */
export type SealedForm = 'hex' | 'base64url';

/** Seals and opens; see the header. */
export class TextSealer {
  private readonly keys: readonly { readonly name: Buffer; readonly secret: Buffer }[];

  /** `keys`: the newest first; it seals, all of them open. At least one. */
  constructor(keys: readonly ChallengeKey[]) {
    this.keys = keys.map((key) => ({
      name: createHash('sha256').update('name').update(key).digest().subarray(0, nameBytes),
      secret: Buffer.from(hkdfSync('sha256', key, '', 'waf challenges', 32)),
    }));
  }

  /** Cost: about 5 us. */
  seal(text: string, purpose: string, form: SealedForm): string {
    const { name, secret } = this.keys[0]!;
    const iv = randomBytes(ivBytes);
    const sealing = createCipheriv(cipher, secret, iv, { authTagLength: tagBytes });
    sealing.setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
    return Buffer.concat([name, iv, sealed, sealing.getAuthTag()]).toString(form);
  }

  /** The text; null for what these keys did not seal for this purpose. Cost: about 5 us. */
  open(sealed: string, purpose: string, form: SealedForm): string | null {
    const bytes = Buffer.from(sealed, form);
    // Decoding ignores what is no digit: of one text there must be one spelling.
    if (bytes.length < nameBytes + ivBytes + tagBytes || bytes.toString(form) !== sealed)
      return null;
    const key = this.keys.find(({ name }) => name.equals(bytes.subarray(0, nameBytes)));
    if (key === undefined) return null;
    const iv = bytes.subarray(nameBytes, nameBytes + ivBytes);
    const opening = createDecipheriv(cipher, key.secret, iv, { authTagLength: tagBytes });
    opening.setAAD(Buffer.from(purpose));
    opening.setAuthTag(bytes.subarray(-tagBytes));
    const text = opening.update(bytes.subarray(nameBytes + ivBytes, -tagBytes));
    try {
      opening.final();
    } catch {
      // The tag does not fit: the text was changed, or sealed for another purpose.
      return null;
    }
    return text.toString('utf8');
  }
}
