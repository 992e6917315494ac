import { readFileSync, statSync } from 'node:fs'
import { ReelayError } from '../../errors.ts'
import { parseVault } from '../../redact/vault-text.ts'

/** The values that the user names as secrets beside those of well-named variables; they are never shown. */
export function readSecretValues({ secret = [], secrets }: SecretFlags): readonly string[] {
  return [...secret.map(secretVariable), ...(secrets === undefined ? [] : secretsInFile(secrets))]
}

export interface SecretFlags {
  readonly secret?: readonly string[]
  readonly secrets?: string
}

function secretVariable(name: string): string {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw new ReelayError('USAGE', `--secret ${name}: there is no such variable in the environment`, {
    hint: `set it, as in ${name}=… reelay …, or put it into a file for --secrets`,
  })
}

/** A vault, or lines of the form NAME=value that somebody wrote, in a file that nobody else can read. */
function secretsInFile(path: string): readonly string[] {
  const values = parseVault(readPrivateFile(path))
  if (!('line' in values)) return values
  throw unusableSecretsFile(path, `line ${values.line} is not of the form NAME=value`)
}

function readPrivateFile(path: string): string {
  try {
    const isOpenToOthers = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
    if (isOpenToOthers) throw new Error('others can read it; chmod 600 keeps it to yourself')
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unusableSecretsFile(path, error instanceof Error ? error.message : String(error))
  }
}

function unusableSecretsFile(path: string, why: string): ReelayError {
  return new ReelayError('USAGE', `--secrets ${path} cannot be used: ${why}`, {
    hint: 'the file holds lines of the form NAME=value and has the mode 600',
  })
}
