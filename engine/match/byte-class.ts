/** The engine's door to the byte classes that scan masks are made of. */
export { byteClassOf, maskOfClasses } from '../../native-bindings/index.ts';
