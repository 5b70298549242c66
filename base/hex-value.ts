/** The values of hexadecimal digits, for readers of bytes. */

/** Value of a hexadecimal digit, or -1. */
export const hexValue: Int8Array = makeHexTable();

function makeHexTable(): Int8Array {
  const table = new Int8Array(256).fill(-1);
  for (let digit = 0; digit < 10; digit++) table[0x30 + digit] = digit;
  for (let digit = 0; digit < 6; digit++) {
    table[0x41 + digit] = 10 + digit;
    table[0x61 + digit] = 10 + digit;
  }
  return table;
}
