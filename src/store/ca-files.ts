import { createHash, X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage, ReelayError } from '../errors.ts'
import { makeFolder } from './file/write.ts'
import { homeFolder } from './home.ts'

/** The files of the local certificate authority. */
export interface CaFiles {
  readonly certPath: string
  readonly keyPath: string
  readonly cert: string
  readonly key: string
  readonly expires: Date
}

export function caFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(homeFolder(env), 'ca')
}

/** Returns `undefined` if there is no local CA. */
export function readCa(folder: string): CaFiles | undefined {
  const { certPath, keyPath } = caPaths(folder)
  if (!existsSync(certPath) && !existsSync(keyPath)) return undefined
  try {
    const [cert, key] = [readFileSync(certPath, 'utf8'), readFileSync(keyPath, 'utf8')]
    return { certPath, keyPath, cert, key, expires: new Date(new X509Certificate(cert).validTo) }
  } catch (cause) {
    throw caUnusable(`the local CA in ${folder} cannot be read`, cause)
  }
}

/** Never replaces an existing CA, because programs that trust it would not trust the new one. */
export function writeCa(folder: string, { cert, key }: { cert: string; key: string }): CaFiles {
  const { certPath, keyPath } = caPaths(folder)
  if (existsSync(certPath) || existsSync(keyPath)) throw caExists(folder)
  try {
    makeFolder(folder)
    writeFileSync(keyPath, key, { mode: 0o600, flag: 'wx' })
    writeFileSync(certPath, cert, { mode: 0o644, flag: 'wx' })
  } catch (cause) {
    throw caUnusable(`the local CA cannot be written to ${folder}`, cause)
  }
  return { certPath, keyPath, cert, key, expires: new Date(new X509Certificate(cert).validTo) }
}

/** Removes the files of `writeCa` and `writeBundle`, and nothing else. Returns true if there was a CA. */
export function removeCa(folder: string): boolean {
  const { certPath, keyPath } = caPaths(folder)
  const wasThere = existsSync(certPath) || existsSync(keyPath)
  const bundles = existsSync(folder) ? readdirSync(folder).filter((name) => BUNDLE_NAME.test(name)) : []
  try {
    for (const path of [certPath, keyPath, ...bundles.map((name) => join(folder, name))])
      rmSync(path, { force: true })
  } catch (cause) {
    throw caUnusable(`the local CA in ${folder} cannot be removed`, cause)
  }
  return wasThere
}

/** Writes certificates to one file, for programs that accept only one. Returns the same path for the same certificates. */
export function writeBundle(folder: string, certs: readonly string[]): string {
  const text = certs.map((cert) => `${cert.trimEnd()}\n`).join('')
  const path = join(folder, `bundle-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.pem`)
  if (!existsSync(path)) writeFileSync(path, text, { mode: 0o644 })
  return path
}

const BUNDLE_NAME = /^bundle-[0-9a-f]{16}\.pem$/

function caPaths(folder: string): { certPath: string; keyPath: string } {
  return { certPath: join(folder, 'reelay-ca.pem'), keyPath: join(folder, 'reelay-ca.key') }
}

function caExists(folder: string): ReelayError {
  return new ReelayError('CA_EXISTS', `there is already a local CA in ${folder}`, {
    hint: 'show it with reelay ca show; to create a new one, run reelay ca remove first',
  })
}

function caUnusable(what: string, cause: unknown): ReelayError {
  const why = errorMessage(cause)
  return new ReelayError('CA_UNUSABLE', `${what}: ${why}`, {
    hint: 'check the permissions, or start over with reelay ca remove and reelay ca create',
    cause,
  })
}
