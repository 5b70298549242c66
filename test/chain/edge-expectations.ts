/** Which rows of the chain hold what the guide on delivery says that the product does. */

/** How the says of the rows begin, by the expectation of the guide's table. */
export const edgeExpectations: Readonly<Record<string, string>> = {
  'maintenance mode': 'Maintenance:',
  redirects: 'Redirects:',
  'redirect to HTTPS': 'Site rule 6:',
  'prefix taken off a path': 'Site rule 4:',
  'users of paths': 'Basic authentication:',
  'body limits by path': 'Body limits:',
  'header fields': 'Fields:',
  CORS: 'CORS:',
  'security.txt': 'security.txt:',
  'pages of errors': 'Responses:',
  'address by PROXY': 'PROXY protocol',
  'ACME over plain HTTP': 'ACME-only HTTP:',
  'fields about the client': 'Delivery:',
  'weights of origins': 'Pools:',
  'probes of origins': 'Health checks',
  'a second try elsewhere': 'Resilience',
  'rate limits': 'Rate limits',
  'access by address': 'IP rules',
  'forward authentication': 'Forward authentication:',
  'client certificates': 'Client certificates:',
  'revoked client certificates': 'Revoked certificates:',
  'compression of answers': 'Compression:',
  'sticky sessions': 'Sticky sessions:',
  'canary by weight, field or cookie': 'Canary:',
};
