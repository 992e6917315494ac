import { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type * as X509 from '@peculiar/x509'

/** A certificate and its private key, as PEM. */
export interface CertificateKeyPair {
  readonly cert: string
  readonly key: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY = 24 * 60 * 60 * 1000
const CA_DAYS = 730
const LEAF_DAYS = 30

/** Creates a certificate authority that is valid for two years. */
export async function makeAuthority(name: string, now: Date): Promise<CertificateKeyPair> {
  const x509 = await loadX509()
  const keys = await generateKeys()
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerial(),
    name: [{ CN: [name] }],
    notBefore: new Date(now.getTime() - DAY),
    notAfter: new Date(now.getTime() + CA_DAYS * DAY),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { cert: certificatePem(cert), key: await privatePem(keys) }
}

/** Creates a certificate for one host, signed by an authority. */
export async function makeLeaf(
  authority: CertificateKeyPair,
  host: string,
  now: Date,
): Promise<CertificateKeyPair> {
  const x509 = await loadX509()
  const issuer = new x509.X509Certificate(authority.cert)
  const keys = await generateKeys()
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: randomSerial(),
    subject: [{ CN: [host.slice(0, 64)] }],
    issuer: issuer.subject,
    notBefore: new Date(now.getTime() - DAY),
    notAfter: new Date(Math.min(now.getTime() + LEAF_DAYS * DAY, issuer.notAfter.getTime())),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await importSigningKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { cert: certificatePem(cert), key: await privatePem(keys) }
}

/** Returns a function that gives the certificate of a host. Certificates are created on demand and kept in memory. */
export function certificateContexts(authority: CertificateKeyPair): (host: string) => Promise<SecureContext> {
  const made = new Map<string, Promise<SecureContext>>()
  return (host) => {
    const context = made.get(host) ?? makeLeaf(authority, host, new Date()).then(createSecureContext)
    made.set(host, context)
    return context
  }
}

/** Loaded on demand, because it is large and only needed with an authority. */
async function loadX509(): Promise<typeof X509> {
  const x509 = await import('@peculiar/x509')
  x509.cryptoProvider.set(webcrypto)
  return x509
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

async function privatePem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey))
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

function importSigningKey(key: string): Promise<webcrypto.CryptoKey> {
  const bytes = Buffer.from(key.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
  return webcrypto.subtle.importKey('pkcs8', bytes, ALGORITHM, false, ['sign'])
}

function certificatePem(cert: X509.X509Certificate): string {
  return `${cert.toString('pem')}\n`
}

/** Returns a random positive number. */
function randomSerial(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16))
  return `01${Buffer.from(bytes).toString('hex')}`
}
