/** Names of header fields in which origins get what a client's certificate shows; lower case. */

export const certificateFields = ['x-client-cert-subject', 'x-client-cert-fingerprint'] as const;
