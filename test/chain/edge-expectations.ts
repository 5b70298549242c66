/** Which tests hold what the guide on delivery says that the product does. */

/** How the says of the rows begin, by the expectation of the guide's table. */
export const edgeExpectations: Readonly<Record<string, string>> = {
  'maintenance mode': 'Maintenance:',
  redirects: 'Redirects:',
  'other paths at the origin': 'Rewrites:',
  'redirect to HTTPS': 'Site rule 6:',
  'prefix taken off a path': 'Site rule 4:',
  'users of paths': 'Basic authentication:',
  'body limits by path': 'Body limits:',
  'times by path': 'Times by path:',
  'header fields': 'Fields:',
  'attributes of cookies': 'Cookies:',
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

/** A test beside the chain: its file from the root, its title below those of its groups. */
export interface EdgeTest {
  readonly file: string;
  readonly title: string;
}

/** The tests of what is no setting of a site, by the expectation of the guide's table. */
export const edgeTests: Readonly<Record<string, readonly EdgeTest[]>> = {
  'access log to file or stdout': [
    {
      file: 'test/e2e/access-log-forms.test.ts',
      title: '--access-log-format > %s to %s: a line for each request, and no other',
    },
    {
      file: 'test/e2e/access-log.test.ts',
      title: '--access-log > SIGUSR1 to the supervisor opens the file anew; no line is lost',
    },
  ],
  'access log to syslog': [
    {
      file: 'test/e2e/siem.test.ts',
      title:
        'every request goes to the target from when it is set, and none after it is taken away',
    },
    {
      file: 'test/siem/rsyslog.test.ts',
      title: 'every target gets its own form; access events come by themselves',
    },
  ],
  'changed files without a cut': [
    {
      file: 'test/e2e/manifest-reload.test.ts',
      title: 'waf apply under requests fails none of them',
    },
  ],
  'a new program without a cut': [
    {
      file: 'test/fault/engine-replaced.test.ts',
      title: 'the engine is replaced under load > a restart for an upgrade cuts nobody off',
    },
  ],
};
