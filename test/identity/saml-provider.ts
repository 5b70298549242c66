/** A SAML identity provider for tests: it signs what a test gives it, valid or not. */

import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { addReflectMetadata } from '../../control/acme/reflect-metadata.ts';

const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

/** A key and its certificate. */
export interface SigningKey {
  readonly privateKey: string;
  readonly certificate: string;
}

/** A fresh key with a certificate of its own. */
export async function makeSigningKey(): Promise<SigningKey> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  };
  addReflectMetadata();
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  const pair = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=identity provider of a test',
    keys: pair,
    signingAlgorithm: algorithm,
  });
  const exported = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', pair.privateKey));
  const lines = exported.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    privateKey: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
    certificate: new X509Certificate(certificate.toString('pem')).toString(),
  };
}

/** What our request asked for. */
export interface SamlRequest {
  readonly id: string;
  readonly acsUrl: string;
  readonly issuer: string;
  readonly relayState: string;
}

/** Reads the address that a browser is sent to. */
export function readRequest(location: string): SamlRequest {
  const { searchParams } = new URL(location);
  const packed = Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64');
  const xml = inflateRawSync(packed).toString('utf8');
  const find = (pattern: RegExp): string => pattern.exec(xml)?.[1] ?? '';
  return {
    id: find(/\sID="([^"]+)"/),
    acsUrl: find(/AssertionConsumerServiceURL="([^"]+)"/),
    issuer: find(/<saml:Issuer[^>]*>([^<]+)</),
    relayState: searchParams.get('RelayState') ?? '',
  };
}

/** What an answer says; left out, it is right. */
export interface SamlAnswer {
  readonly nameId?: string;
  readonly nameIdFormat?: string;
  readonly issuer?: string;
  readonly audience?: string | null;
  readonly recipient?: string;
  readonly inResponseTo?: string;
  readonly confirmedFor?: string;
  readonly method?: string;
  /** Milliseconds from now at which it begins and ends to hold. */
  readonly notBeforeMs?: number;
  readonly notOnOrAfterMs?: number;
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  readonly assertionId?: string;
}

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const idpIssuer = 'https://idp.example.test/metadata';

/** Entity id of the provider. */
export const providerIssuer = idpIssuer;

/** An assertion without signature. */
export function makeAssertion(request: SamlRequest, answer: SamlAnswer = {}): string {
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  const notBefore = at(answer.notBeforeMs ?? -1000);
  const notOnOrAfter = at(answer.notOnOrAfterMs ?? 60_000);
  const audience = answer.audience === undefined ? request.issuer : answer.audience;
  const restriction =
    audience === null
      ? ''
      : '<saml:AudienceRestriction>' +
        `<saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`;
  const attributes = Object.entries(answer.attributes ?? {}).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${values
        .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
        .join('')}</saml:Attribute>`,
  );
  const statement =
    attributes.length === 0
      ? ''
      : `<saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement>`;
  const format = answer.nameIdFormat ?? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
  return (
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ` +
    `ID="${answer.assertionId ?? newId()}" Version="2.0" IssueInstant="${at(0)}">` +
    `<saml:Issuer>${answer.issuer ?? idpIssuer}</saml:Issuer>` +
    `<saml:Subject><saml:NameID Format="${format}">${answer.nameId ?? 'sam'}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="${answer.method ?? bearer}">` +
    `<saml:SubjectConfirmationData Recipient="${answer.recipient ?? request.acsUrl}" ` +
    `InResponseTo="${answer.confirmedFor ?? request.id}" NotOnOrAfter="${notOnOrAfter}"/>` +
    `</saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${notBefore}" NotOnOrAfter="${notOnOrAfter}">${restriction}` +
    `</saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="${newId()}"><saml:AuthnContext>` +
    `<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password` +
    `</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${statement}` +
    `</saml:Assertion>`
  );
}

/** A response around assertions, signed or not. */
export function makeResponse(
  request: SamlRequest,
  content: string,
  { inResponseTo, status = 'Success' }: { inResponseTo?: string; status?: string } = {},
): string {
  return (
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${newId()}" ` +
    `Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${request.acsUrl}" ` +
    `InResponseTo="${inResponseTo ?? request.id}">` +
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${idpIssuer}</saml:Issuer>` +
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/>` +
    `</samlp:Status>${content}</samlp:Response>`
  );
}

/** Signs the one element of this name, after its Issuer. */
export function sign(
  xml: string,
  { privateKey, certificate }: SigningKey,
  element: 'Assertion' | 'Response' = 'Assertion',
  weak = false,
): string {
  const signed = new SignedXml({
    privateKey,
    publicCert: certificate,
    canonicalizationAlgorithm: exclusive,
    signatureAlgorithm: weak ? 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' : rsaSha256,
  });
  const xpath = `//*[local-name(.)='${element}']`;
  signed.addReference({
    xpath,
    digestAlgorithm: weak ? 'http://www.w3.org/2000/09/xmldsig#sha1' : sha256,
    transforms: [enveloped, exclusive],
  });
  const reference = `${xpath}/*[local-name(.)='Issuer']`;
  signed.computeSignature(xml, { location: { reference, action: 'after' }, prefix: 'ds' });
  return signed.getSignedXml();
}

/** The form of a response. */
export function formOf(xml: string, request: SamlRequest): Record<string, string> {
  return { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: request.relayState };
}

/** A new XML id. */
export function newId(): string {
  return `_${randomBytes(12).toString('hex')}`;
}
