/** Which code reads the clients' bytes; chosen for a whole process. */

/** `strict`: our own parser on plain sockets. `uws`: uWebSockets.js, `front/listener-uws.ts`. */
export type ListenerKind = 'strict' | 'uws';

/** Both, the default first. */
export const listenerKinds: readonly ListenerKind[] = ['strict', 'uws'];
