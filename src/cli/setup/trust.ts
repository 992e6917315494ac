import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  distrustConfig,
  findConfigFile,
  isCodeConfig,
  trustConfig,
  trustedConfigs,
} from '../../config/trust.ts'
import { escapeControlChars } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option, usageError } from '../options/option.ts'
import { switchOn } from '../options/option-types.ts'
import { print } from '../output/print.ts'

interface TrustFlags {
  readonly list?: true
  readonly remove?: true
}

export const trustCommand: CommandDefinition = defineCommand<TrustFlags>({
  name: 'trust',
  arguments: { '[config]': 'Path of the config (default: the config of the working directory)' },
  options: {
    list: option('--list', switchOn, 'List the trusted configs', { conflicts: ['remove'] }),
    remove: option('--remove', switchOn, 'Do not trust the config any more'),
  },
  run: ([given], { list, remove }) => {
    if (list) return listTrusted()
    const file = given === undefined ? findConfigFile(process.cwd()) : resolve(given)
    if (file === undefined)
      throw usageError('there is no config in this folder or above it', 'name it: reelay trust <config>')
    if (!remove && !existsSync(file))
      throw usageError(`there is no file ${file}`, 'check the path of the config')
    return remove ? removeTrust(file) : addTrust(file)
  },
})

function listTrusted(): void {
  for (const [path, hash] of Object.entries(trustedConfigs())) print(trustLine(path, hash))
}

function addTrust(file: string): void {
  if (!isCodeConfig(file))
    throw usageError(
      `${file} contains no code`,
      'only configs in JavaScript or TypeScript need to be trusted',
    )
  const [path, hash] = trustConfig(file)
  print(`trusted until it changes: ${trustLine(path, hash)}`)
}

function removeTrust(file: string): void {
  if (!distrustConfig(file))
    throw usageError(`${file} is not trusted`, 'reelay trust --list shows the trusted configs')
  print(`not trusted any more: ${escapeControlChars(file)}\n`)
}

function trustLine(path: string, hash: string): string {
  return `${escapeControlChars(path)} (${hash})\n`
}
