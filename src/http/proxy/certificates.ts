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
/** With the day before its creation, a CA is valid for one year. */
const CA_DAYS = 364
const LEAF_DAYS = 30

/**
 * Creates a certificate authority that is valid for a year. With a list of hosts, programs that trust it accept it only for
 * these hosts and their subdomains.
 */
export async function makeAuthority(
  name: string,
  now: Date,
  hosts: readonly string[] = [],
): Promise<CertificateKeyPair> {
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
      ...(hosts.length === 0 ? [] : [new x509.Extension(NAME_CONSTRAINTS_OID, true, nameConstraints(hosts))]),
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
    // OpenSSL would compare an address here with the host names that the authority permits.
    subject: [{ CN: [isIP(host) === 0 ? host.slice(0, 64) : 'reelay'] }],
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

/**
 * Returns a function that gives the certificate of a host, or `undefined` if the authority does not permit the host.
 * Certificates are created on demand and kept in memory.
 */
export async function certificateContexts(
  authority: CertificateKeyPair,
): Promise<(host: string) => Promise<SecureContext> | undefined> {
  const hosts = await permittedHosts(authority)
  const made = new Map<string, Promise<SecureContext>>()
  return (host) => {
    if (hosts.length > 0 && !hosts.some((permitted) => isPermitted(host, permitted))) return undefined
    const context = made.get(host) ?? makeLeaf(authority, host, new Date()).then(createSecureContext)
    made.set(host, context)
    return context
  }
}

function isPermitted(host: string, permitted: string): boolean {
  const [name, suffix] = [host.toLowerCase(), permitted.toLowerCase()]
  return name === suffix || (isIP(host) === 0 && name.endsWith(`.${suffix}`))
}

/** Returns the hosts that an authority is limited to, or an empty list if it is not limited. */
export async function permittedHosts({ cert }: Pick<CertificateKeyPair, 'cert'>): Promise<readonly string[]> {
  const x509 = await loadX509()
  const extension = new x509.X509Certificate(cert).getExtension(NAME_CONSTRAINTS_OID)
  if (extension === null) return []
  const [constraints] = derItems(Buffer.from(extension.value))
  const permitted = derItems(constraints?.value).find(({ tag }) => tag === PERMITTED)
  return derItems(permitted?.value).flatMap(({ value }) =>
    derItems(value).map(({ tag, value: base }) =>
      tag === DNS_NAME ? base.toString('latin1') : addressIn(base),
    ),
  )
}

// RFC 5280, 4.2.1.10, in DER.
const NAME_CONSTRAINTS_OID = '2.5.29.30'
const SEQUENCE = 0x30
const [PERMITTED, EXCLUDED] = [0xa0, 0xa1]
const [DNS_NAME, IP_ADDRESS] = [0x82, 0x87]

/** A kind of name without a permitted one is not limited, so all names of that kind are excluded. */
function nameConstraints(hosts: readonly string[]): Buffer {
  const permitted = hosts.map((host) =>
    isAddress(host)
      ? subtree(IP_ADDRESS, addressWithMask(host))
      : subtree(DNS_NAME, Buffer.from(host.toLowerCase(), 'latin1')),
  )
  const excluded = [
    ...(hosts.some(isAddress) ? [] : [4, 16].map((bytes) => subtree(IP_ADDRESS, Buffer.alloc(2 * bytes)))),
    ...(hosts.every(isAddress) ? [subtree(DNS_NAME, Buffer.alloc(0))] : []),
  ]
  return der(
    SEQUENCE,
    der(PERMITTED, ...permitted),
    ...(excluded.length === 0 ? [] : [der(EXCLUDED, ...excluded)]),
  )
}

function isAddress(host: string): boolean {
  return isIP(host) !== 0
}

function subtree(tag: number, base: Buffer): Buffer {
  return der(SEQUENCE, der(tag, base))
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  const length = value.length
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}

interface DerItem {
  readonly tag: number
  readonly value: Buffer
}

function derItems(bytes: Buffer = Buffer.alloc(0)): readonly DerItem[] {
  const items: DerItem[] = []
  for (let at = 0; at + 1 < bytes.length;) {
    const size = bytes[at + 1]!
    const start = at + 2 + Math.max(0, size - 0x80)
    const end = start + (size < 0x80 ? size : bytes.readUIntBE(at + 2, size - 0x80))
    items.push({ tag: bytes[at]!, value: bytes.subarray(start, end) })
    at = end
  }
  return items
}

function addressWithMask(address: string): Buffer {
  const bytes = isIP(address) === 4 ? ipv4Bytes(address) : ipv6Bytes(address)
  return Buffer.from([...bytes, ...bytes.map(() => 0xff)])
}

function ipv4Bytes(address: string): readonly number[] {
  return address.split('.').map(Number)
}

function groups(part: string): readonly number[] {
  return part === '' ? [] : part.split(':').map((group) => parseInt(group, 16))
}

/** A URL has the address in its canonical form, in which only zeros are left out. */
function ipv6Bytes(address: string): readonly number[] {
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [groups(before), groups(after ?? '')]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0)
  return [...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 0xff])
}

function addressIn(base: Buffer): string {
  const bytes = base.subarray(0, base.length / 2)
  if (bytes.length === 4) return bytes.join('.')
  const words = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16))
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1)
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
