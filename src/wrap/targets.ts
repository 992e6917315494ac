import { realpathSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { ReelayError } from '../errors.ts'
import type { Client, Root, Spot, Where } from './client.ts'
import { CLIENTS } from './clients/index.ts'
import { readConfig } from './config-file.ts'
import { FORMATS } from './formats.ts'
import type { Remembered } from './memory.ts'

/** A config file to look at, and whose it is. */
export interface Target extends Spot {
  readonly client: Client
}

export interface Choice {
  readonly where: Where
  /** One client only. */
  readonly client?: string | undefined
  /** One file only. */
  readonly file?: string | undefined
}

/** The files that the user means: one file, those of one client, or those of all. */
export function chosenTargets({ where, client, file }: Choice): readonly Target[] {
  const clients = client === undefined ? CLIENTS : [clientNamed(client)]
  if (file !== undefined) return [targetOfFile(resolve(where.cwd, file), clients, where)]
  return merged(clients.flatMap((each) => each.spots(where).map((spot) => ({ client: each, ...spot }))))
}

/** The same, and every file that holds an entry which was wrapped from elsewhere. */
export function knownTargets(choice: Choice, memory: readonly Remembered[]): readonly Target[] {
  const chosen = chosenTargets(choice)
  const files = choice.file === undefined ? undefined : chosen.map(({ file }) => realFile(file))
  const remembered = memory.flatMap(({ client: name, file, root }) => {
    const client = CLIENTS.find((each) => each.name === name)
    const isMeant = files?.includes(file) ?? (choice.client ?? name) === name
    return client !== undefined && isMeant ? [{ client, file, roots: [root] }] : []
  })
  return merged([...chosen, ...remembered])
}

/** The file itself, where a path leads through links. */
export function realFile(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file // there is none, which whoever opens it will say
  }
}

function clientNamed(name: string): Client {
  const client = CLIENTS.find((each) => each.name === name)
  if (client !== undefined) return client
  const known = CLIENTS.map((each) => each.name).join(', ')
  throw new ReelayError('USAGE', `unknown client ${name}`, { hint: `the clients are ${known}` })
}

/** Whose a file is: of the client that looks there, or else of one whose table of servers it holds. */
function targetOfFile(file: string, clients: readonly Client[], where: Where): Target {
  const config = readConfig(file)
  if (config === undefined)
    throw new ReelayError('CONFIG_NOT_FOUND', `there is no config file ${file}`, {
      hint: 'leave --file out to look where the clients look',
    })
  for (const client of clients) {
    const spot = client.spots(where).find((each) => realFile(each.file) === config.path)
    if (spot !== undefined) return { client, ...spot }
  }
  return { file, ...clientByContent(file, config.text, clients) }
}

function clientByContent(file: string, text: string, clients: readonly Client[]): Omit<Target, 'file'> {
  const format = extname(file) === '.toml' ? 'toml' : 'json'
  const fitting = clients.filter((each) => each.format === format)
  const client = fitting.find((each) => holdsServers(each, text)) ?? fitting[0]
  if (client !== undefined) return { client, roots: [client.root] }
  throw new ReelayError(
    'USAGE',
    `${file} is no config file of ${clients.map(({ name }) => name).join(', ')}`,
    {
      hint: 'files that end in .toml are read as TOML, all others as JSON',
    },
  )
}

function holdsServers({ format, root }: Client, text: string): boolean {
  try {
    return FORMATS[format].entries(text, root).length > 0
  } catch {
    return false // whoever opens it will say why it cannot be read
  }
}

/** One target for each file, with all roots that were named for it. */
function merged(targets: readonly Target[]): readonly Target[] {
  const byFile = new Map<string, Target>()
  for (const target of targets) {
    const key = realFile(target.file)
    const before = byFile.get(key)
    byFile.set(key, before === undefined ? target : { ...before, roots: union(before.roots, target.roots) })
  }
  return [...byFile.values()]
}

function union(a: readonly Root[], b: readonly Root[]): readonly Root[] {
  const known = new Set(a.map((root) => root.join('\0')))
  return [...a, ...b.filter((root) => !known.has(root.join('\0')))]
}
