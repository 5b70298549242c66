/** The sound that people may count instead of reading: tones as a WAV file, equally long. */

import { Buffer } from 'node:buffer';

const rate = 8_000;
const toneSeconds = 0.22;
const pauseSeconds = 0.33;
/** Fewest and most tones. */
export const [tonesMin, tonesMax] = [3, 9];
const seconds = 0.4 + tonesMax * (toneSeconds + pauseSeconds);
const samples = Math.ceil(rate * seconds);
const made = new Map<number, Buffer>();

/** The file with `count` tones, 3 to 9. Cost: 1 ms for the first of a count in a thread. */
export function tonesFile(count: number): Buffer {
  let file = made.get(count);
  if (file === undefined) made.set(count, (file = makeFile(count)));
  return file;
}

function makeFile(count: number): Buffer {
  const file = Buffer.alloc(44 + samples, 128);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(36 + samples, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(samples, 40);
  for (let tone = 0; tone < count; tone++) {
    const from = Math.round(rate * (0.2 + tone * (toneSeconds + pauseSeconds)));
    for (let at = 0; at < rate * toneSeconds; at++) {
      file[44 + from + at] = 128 + Math.round(90 * Math.sin((2 * Math.PI * 660 * at) / rate));
    }
  }
  return file;
}
