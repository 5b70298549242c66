/** Owns the engine's door to listening sockets that several threads share. */
export { acceptClients, listenReusePort } from '../../native-bindings/index.ts';
