/** Owns the engine's door to the byte classes that scan masks are made of. */
export {
  BYTE_CLASS,
  byteClassOf,
  maskOfClasses,
  maskOfValue,
} from '../../native-bindings/index.ts';
export type { ByteClassName } from '../../native-bindings/index.ts';
