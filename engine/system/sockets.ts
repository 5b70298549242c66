/** The only door to listening sockets that threads and processes share. */
export { acceptClients } from '../../native-bindings/index.ts';
export { listenReusePort, shareListening } from '../../native-bindings/listen/listen.ts';
