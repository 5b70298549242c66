/** The engine's door to the decoder of bodies that Node 20 lacks. */
export { decodeZstd } from '../../native-bindings/index.ts';
