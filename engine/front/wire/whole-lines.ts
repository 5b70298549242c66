/** Cuts header lines to a number of bytes. Pure. */

/** The lines that fit into a number of bytes. */
export function wholeLines(lines: Uint8Array, bytesMax: number): Uint8Array {
  if (lines.length <= bytesMax) return lines;
  const end = lines.lastIndexOf(0x0a, bytesMax - 1) + 1;
  // One line alone that is too long is cut.
  return lines.subarray(0, end === 0 ? bytesMax : end);
}
