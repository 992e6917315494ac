import { readFileSync, statSync } from 'node:fs'
import type { ReelayError } from '../../errors.ts'
import { parseVault } from '../../store/vault.ts'
import { option, inGroup, usageError, type OptionTable } from './option.ts'
import { fileValue, nameList } from './option-types.ts'

export interface SecretFlags {
  readonly secret?: readonly string[]
  readonly secrets?: string
}

/** Values that are secret because the user says so, beside those of variables with telling names. */
export const SECRET_OPTIONS: OptionTable<SecretFlags> = inGroup('Secrets', {
  secret: option(
    '--secret <variables>',
    nameList,
    'Use the values of these environment variables for the placeholders on the tape (repeatable)',
  ),
  secrets: option(
    '--secrets',
    fileValue,
    'Use the values in this file: a vault, or NAME=value lines in a file that only you can read',
  ),
})

/** The values themselves. They are never shown. */
export function readSecretValues({ secret = [], secrets }: SecretFlags): readonly string[] {
  return [...secret.map(variableValue), ...(secrets === undefined ? [] : valuesInFile(secrets))]
}

function variableValue(name: string): string {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw usageError(
    `--secret needs ${name}, which is not in the environment`,
    `set it, as in ${name}=… reelay …, or put it into a file for --secrets`,
  )
}

function valuesInFile(path: string): readonly string[] {
  const values = parseVault(readPrivateFile(path))
  if (!('line' in values)) return values
  throw unusableFile(path, `line ${values.line} is not of the form NAME=value`)
}

function readPrivateFile(path: string): string {
  try {
    const isOpenToOthers = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
    if (isOpenToOthers) throw new Error('other users can read it; run chmod 600 on it')
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unusableFile(path, error instanceof Error ? error.message : String(error))
  }
}

function unusableFile(path: string, why: string): ReelayError {
  return usageError(
    `--secrets ${path} cannot be used: ${why}`,
    'the file holds NAME=value lines and has mode 600',
  )
}
