/** Owns the engine's door to listening sockets that several threads share. */
export { listenReusePort } from '../../native-bindings/index.ts';
