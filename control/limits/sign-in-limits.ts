/** The bounds of sign-ins. */

/** Sessions, identity providers, and failures that lock. */
export const signInLimits = {
  /** Enrollments of a second factor that wait for their code. */
  enrollmentsMax: 1_000,
  /** Passkeys of one user. */
  passkeysPerUserMax: 10,
  /** API tokens of one user. */
  tokensPerUserMax: 100,
  /** Longest time that an API token is made for, where its maker does not choose none. */
  tokenMs: 366 * 24 * 3600_000,
  /** The last use of a token is written so often. */
  tokenUseNotedEveryMs: 60_000,
  /** Wrong API tokens from one address in a minute. */
  wrongTokensPerAddressMax: 20,
  /** Challenges that wait for their answer. */
  challengesMax: 10_000,
  /** Sessions of one user; the oldest end. */
  sessionsPerUserMax: 50,
  /** Browser sign-ins that wait for their identity provider. */
  pendingLoginsMax: 10_000,
  /** Identity providers of one kind, RADIUS servers, and roles or groups that one provider maps. */
  identityProvidersMax: 20,
  radiusServersMax: 8,
  providerRolesMax: 64,
  /** One RADIUS packet, RFC 2865 section 3. */
  radiusPacketBytesMax: 4_096,
  /** Rounds of challenge and answer with a RADIUS server in one sign-in. */
  radiusRoundsMax: 5,
  /** One call of an OpenID provider. */
  oidcTimeoutMs: 10_000,
  /** One answer of an OpenID provider; discovery documents have 5 KB. */
  oidcAnswerBytesMax: 1024 * 1024,
  /** Groups of one person that are looked at. */
  providerGroupsMax: 1_000,
  /** Visits of sign-in pages from one address in a minute; an office may share one. */
  signInVisitsPerMinute: 300,
  /** Form that a browser carries here from a SAML identity provider. */
  samlFormBytesMax: 512 * 1024,
  /** Depth of that form's XML; responses have ten. The library's time grows with the square. */
  samlDepthMax: 32,
  /** Its elements and attributes; a person in a thousand groups has 1,100. */
  samlElementsMax: 1_500,
  samlAttributesMax: 2_000,
  /** Responses from one address in a minute; each may cost a quarter of a second. */
  samlResponsesPerMinute: 120,
  /** Wrong proofs that keep an address out for a user, and second factors that lock the account. */
  lockAfterFailures: 5,
  /** Wrong passwords from any addresses that lock an account for addresses it does not know. */
  lockAccountAfterFailures: 25,
  lockMs: 15 * 60_000,
  /** Addresses remembered of one user: with failures, and with sign-ins. */
  signInOriginsMax: 32,
  knownOriginsMax: 8,
  /** Sign-ins in a minute: of one address, and of one user from addresses it does not know. */
  signInsPerAddressMax: 10,
  signInsPerUserMax: 100,
  /** Users and addresses whose attempts are counted. */
  attemptKeysMax: 10_000,
} as const;
