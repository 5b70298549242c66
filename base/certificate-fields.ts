/** Header fields in which origins get what the certificate of a client shows. */

/** Subject and SHA-256 fingerprint; lower case. */
export const certificateFields = ['x-client-cert-subject', 'x-client-cert-fingerprint'] as const;
