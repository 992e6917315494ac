import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorMessage, systemErrorCode, ReelayError } from '../errors.ts'
import type { RedactionKey } from '../redact/placeholders.ts'
import { makeFolder } from './file/write.ts'
import { homeFolder } from './home.ts'

/** The key for a new tape. */
interface KeyForRecording {
  readonly key: RedactionKey
  /** Why the user's key cannot be used. The tape then gets a temporary key, and live values cannot be matched with it. */
  readonly trouble: string | undefined
}

/** The user's key, which is created on first use. If that fails, a temporary key is used: a recording is always redacted. */
export function keyForRecording(env: NodeJS.ProcessEnv = process.env): KeyForRecording {
  try {
    return { key: readRedactionKey(env) ?? makeKey(redactionKeyFile(env)), trouble: undefined }
  } catch (error) {
    const trouble = errorMessage(error)
    return { key: ephemeralKey(), trouble }
  }
}

/** Returns `undefined` if the user has no key yet. */
export function readRedactionKey(env: NodeJS.ProcessEnv = process.env): RedactionKey | undefined {
  const given = env[KEY_VARIABLE]
  if (given !== undefined && given !== '') return keyFromVariable(given)
  const file = redactionKeyFile(env)
  try {
    return parseKey(file, readFileSync(file, 'utf8'))
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

export function redactionKeyFile(env: NodeJS.ProcessEnv = process.env): string {
  return join(homeFolder(env), 'redaction.key')
}

const KEY_VARIABLE = 'REELAY_REDACTION_KEY'
const MIN_KEY_LENGTH = 16
const KEY_BYTES = 32

function keyFromVariable(given: string): RedactionKey {
  if (given.length < MIN_KEY_LENGTH) {
    throw new ReelayError('REDACTION_KEY', `${KEY_VARIABLE} has fewer than ${MIN_KEY_LENGTH} characters`, {
      hint: 'set it to a long random string, for example the output of: openssl rand -hex 32',
    })
  }
  const secret = Buffer.from(given)
  return createKey(keyNameFor(secret), secret)
}

/** The file contains the name of the key too, so that a recorder without secrets need not load `node:crypto`. */
function parseKey(file: string, text: string): RedactionKey {
  const [, name, hex] = /^(k-[0-9a-f]{8}) ([0-9a-f]{64})\s*$/.exec(text) ?? []
  if (name !== undefined && hex !== undefined) return createKey(name, Buffer.from(hex, 'hex'))
  throw new ReelayError('REDACTION_KEY', `${file} does not contain a redaction key`, {
    hint: 'restore it from a backup, or remove it to get a new key; live secrets then no longer match older tapes',
  })
}

function makeKey(file: string): RedactionKey {
  const secret = loadCrypto().randomBytes(KEY_BYTES)
  const key = createKey(keyNameFor(secret), secret)
  makeFolder(dirname(file))
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, `${key.name} ${secret.toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file) // unlike rename, link never replaces a key that another recorder has just created
    return key
  } catch (error) {
    if (existsSync(file)) return parseKey(file, readFileSync(file, 'utf8'))
    if (isUnsupported(error)) renameSync(draft, file)
    else throw error
    return key
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Some file systems do not support hard links. */
function isUnsupported(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'ENOSYS', 'EISDIR'].includes(String(systemErrorCode(error)))
}

/** A key that is lost when the process ends. */
export function ephemeralKey(): RedactionKey {
  const secret = loadCrypto().randomBytes(KEY_BYTES)
  return createKey(`${keyNameFor(secret)}-forgotten`, secret)
}

function createKey(name: string, secret: Buffer): RedactionKey {
  return { name, hmac: (text) => loadCrypto().createHmac('sha256', secret).update(text).digest() }
}

/** The name does not reveal the key. */
function keyNameFor(secret: Buffer): string {
  const digest = loadCrypto().createHmac('sha256', secret).update('the name of this key').digest('hex')
  return `k-${digest.slice(0, 8)}`
}

/** Loads the module on first use, because it would cost the recorder several milliseconds at every start. */
function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}
