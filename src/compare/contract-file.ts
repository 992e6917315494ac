import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { readSettingsFile } from '../config/project-config.ts'
import type { Setting } from '../config/setting.ts'
import { ReelayError } from '../errors.ts'
import { isObject, parseJson, type JsonObject } from '../json/parse.ts'
import { observeShape, readShape, type ObservedShape } from '../schemas/observed-shape.ts'
import { writeOwnFile } from '../store/file/replace-file.ts'
import { openIndexedTape } from '../store/index/indexed-tape.ts'
import { turnStoreOf } from '../tape/turns.ts'
import { recordedTools, type ToolRecords } from './recorded-tools.ts'
import type { RecordedValue } from './schema-changes.ts'
import { surfacesOf, type AskingClient, type ServerSurface } from './surface.ts'

/** What servers offer, as declared and as recorded, kept in a file that people review. */
export interface Contract {
  readonly made: string
  /** The tapes or servers that it was made from. */
  readonly from: readonly string[]
  readonly servers: ReadonlyMap<string, ContractServer>
  readonly accepted: readonly AcceptedFinding[]
}

export interface ContractServer {
  readonly surface: ServerSurface
  /** What was recorded with each tool. */
  readonly recorded: ReadonlyMap<string, ContractRecords>
}

/** The calls of a tool that new versions are checked against. */
export interface ContractRecords {
  readonly calls: number
  readonly errors: number
  readonly arguments: readonly RecordedValue[]
  readonly results: readonly RecordedValue[]
  /** What the results have in common. */
  readonly observed?: ObservedShape
}

/** A finding that does not count, and why. */
export interface AcceptedFinding {
  readonly fingerprint: string
  readonly rule: string
  readonly subject: string
  readonly reason: string
}

/** Makes a contract from tapes. Tapes of the same server are put together; what a later tape says counts. */
export async function contractFromTapes(paths: readonly string[], now: Date = new Date()): Promise<Contract> {
  const servers = new Map<string, ContractServer>()
  for (const path of paths)
    for (const [name, server] of await serversOnTape(path)) {
      const known = servers.get(name)
      servers.set(name, known === undefined ? server : mergedServer(known, server))
    }
  return { made: now.toISOString(), from: paths.map((path) => basename(path)), servers, accepted: [] }
}

/** What the servers of a tape offer, and what was recorded with their tools. */
export async function serversOnTape(path: string): Promise<ReadonlyMap<string, ContractServer>> {
  const tape = await openIndexedTape(path)
  try {
    const turns = turnStoreOf(tape.turns)
    return new Map(
      Array.from(surfacesOf(turns), ([name, surface]) => {
        const recorded = recordedTools(turns, name)
        return [
          name,
          {
            surface,
            recorded: new Map(Array.from(recorded, ([tool, records]) => [tool, contractRecords(records)])),
          },
        ]
      }),
    )
  } finally {
    tape.close()
  }
}

function contractRecords({ outputs, ...records }: ToolRecords): ContractRecords {
  return { ...records, ...(outputs.length > 0 && { observed: observeShape(outputs) }) }
}

function mergedServer(one: ContractServer, other: ContractServer): ContractServer {
  const [before, after] = [one.surface, other.surface]
  const merge = (list: 'tools' | 'prompts' | 'resources' | 'templates'): Partial<ServerSurface> => {
    const [own, more] = [before[list], after[list]]
    return own === undefined && more === undefined
      ? {}
      : { [list]: new Map([...(own ?? []), ...(more ?? [])]) }
  }
  const recorded = new Map(one.recorded)
  for (const [tool, records] of other.recorded) {
    const known = recorded.get(tool)
    recorded.set(tool, known === undefined ? records : mergedRecords(known, records))
  }
  return {
    surface: {
      ...before,
      ...after,
      ...merge('tools'),
      ...merge('prompts'),
      ...merge('resources'),
      ...merge('templates'),
    },
    recorded,
  }
}

function mergedRecords(one: ContractRecords, other: ContractRecords): ContractRecords {
  const observed = [one.observed, other.observed].toSorted((a, b) => (b?.seen ?? 0) - (a?.seen ?? 0))[0]
  return {
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    arguments: [...one.arguments, ...other.arguments],
    results: [...one.results, ...other.results],
    ...(observed && { observed }),
  }
}

const COMMENT = ` A contract of MCP servers: what they offer, and what was recorded with their tools.
 Made by reelay contract make. Check a server or a tape against it with reelay contract check.
 Written in docs/reference/contract.md.`

/** Writes a contract as YAML. `redact` hides secrets in JSON text. */
export async function writeContract(
  path: string,
  contract: Contract,
  redact: (json: string) => string = String,
): Promise<void> {
  await writeText(path, await contractText(contract, redact))
}

/** The content of a contract file. */
export async function contractText(
  contract: Contract,
  redact: (json: string) => string = String,
): Promise<string> {
  const { Document } = await import('yaml')
  const content: unknown = parseJson(redact(JSON.stringify(contractContent(contract))))
  const document = new Document(content, { aliasDuplicateObjects: false })
  document.commentBefore = COMMENT
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeOwnFile(path, [text])
  } catch (cause) {
    throw new ReelayError('SETTINGS_UNWRITABLE', `${path} cannot be written: ${String(cause)}`, {
      hint: 'check that the folder exists and is writable',
      cause,
    })
  }
}

function contractContent({ made, from, servers, accepted }: Contract): JsonObject {
  return {
    reelayContract: 1,
    made,
    from,
    ...(accepted.length > 0 && { accepted }),
    servers: Object.fromEntries(Array.from(servers, ([name, server]) => [name, serverContent(server)])),
  }
}

function serverContent({ surface, recorded }: ContractServer): JsonObject {
  const { client, info, protocolVersion, capabilities, instructions, tools, prompts, resources, templates } =
    surface
  return {
    ...(client && { client }),
    ...(info && { info }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(capabilities && { capabilities }),
    ...(instructions !== undefined && { instructions }),
    ...(tools && {
      tools: Object.fromEntries(
        Array.from(tools, ([name, tool]) => [
          name,
          { ...withoutKey(tool, 'name'), ...recordedContent(recorded.get(name)) },
        ]),
      ),
    }),
    ...(prompts && { prompts: itemsContent(prompts, 'name') }),
    ...(resources && { resources: itemsContent(resources, 'uri') }),
    ...(templates && { resourceTemplates: itemsContent(templates, 'uriTemplate') }),
  }
}

function itemsContent(list: ReadonlyMap<string, JsonObject>, key: string): JsonObject {
  return Object.fromEntries(Array.from(list, ([name, item]) => [name, withoutKey(item, key)]))
}

function recordedContent(records: ContractRecords | undefined): JsonObject {
  if (records === undefined) return {}
  const { calls, errors, arguments: values, results, observed } = records
  return {
    recorded: {
      calls,
      errors,
      ...(values.length > 0 && { arguments: values }),
      ...(results.length > 0 && { results }),
      ...(observed && { observed }),
    },
  }
}

function withoutKey(item: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = item
  return rest
}

const HINT = 'make it again with reelay contract make; docs/reference/contract.md describes the file'
const MAX_BYTES = 64 * 1024 * 1024

/** Reads a contract. The file may come from anybody: it is checked, and nothing in it is run or opened. */
export function readContract(path: string): Contract {
  if (statSync(path, { throwIfNoEntry: false }) === undefined)
    throw new ReelayError('SETTINGS_INVALID', `there is no contract at ${path}`, {
      hint: 'the contract comes first, then the tape; make one with reelay contract make <tape> -o <file>',
    })
  const setting = readSettingsFile(path, { hint: HINT, maxBytes: MAX_BYTES })
  const read = setting.members(['reelayContract', 'made', 'from', 'accepted', 'servers'])
  if (read.reelayContract?.value !== 1)
    throw (read.reelayContract ?? setting).invalid(
      'is not a contract that this version can read (reelayContract: 1)',
    )
  if (read.servers === undefined || !isObject(read.servers.value)) throw setting.invalid('has no "servers"')
  const servers = Object.entries(read.servers.value).map(
    ([name, server]) => [name, readServer(server)] as const,
  )
  return {
    made: read.made === undefined ? '' : String(read.made.value),
    from: read.from?.items().map(({ value }) => String(value)) ?? [],
    servers: new Map(servers),
    accepted: read.accepted?.items().map(readAccepted) ?? [],
  }
}

function readAccepted(setting: Setting): AcceptedFinding {
  const { fingerprint, rule, subject, reason } = setting.members(['fingerprint', 'rule', 'subject', 'reason'])
  if (fingerprint === undefined) throw setting.invalid('has no "fingerprint"')
  if (reason === undefined || String(reason.value).trim() === '') throw setting.invalid('has no "reason"')
  return {
    fingerprint: String(fingerprint.value),
    rule: rule?.text() ?? '',
    subject: subject?.text() ?? '',
    reason: String(reason.value),
  }
}

function readServer(value: unknown): ContractServer {
  const server = isObject(value) ? value : {}
  const { client, info, protocolVersion, capabilities, instructions, tools } = server
  const recorded = new Map<string, ContractRecords>()
  for (const [name, tool] of Object.entries(isObject(tools) ? tools : {})) {
    const records = isObject(tool) ? readRecords(tool['recorded']) : undefined
    if (records !== undefined) recorded.set(name, records)
  }
  return {
    surface: {
      ...(isObject(client) && { client: readClient(client) }),
      ...(isObject(info) && { info }),
      ...(typeof protocolVersion === 'string' && { protocolVersion }),
      ...(isObject(capabilities) && { capabilities }),
      ...(typeof instructions === 'string' && { instructions }),
      ...readItems(server, 'tools', 'tools', 'name'),
      ...readItems(server, 'prompts', 'prompts', 'name'),
      ...readItems(server, 'resources', 'resources', 'uri'),
      ...readItems(server, 'resourceTemplates', 'templates', 'uriTemplate'),
    },
    recorded,
  }
}

function readClient({ protocolVersion, capabilities }: JsonObject): AskingClient {
  return {
    ...(typeof protocolVersion === 'string' && { protocolVersion }),
    ...(isObject(capabilities) && { capabilities }),
  }
}

function readItems(server: JsonObject, member: string, list: string, key: string): Partial<ServerSurface> {
  const items = server[member]
  if (!isObject(items)) return {}
  return {
    [list]: new Map(
      Object.entries(items).map(([name, item]) => [
        name,
        { [key]: name, ...withoutKey(isObject(item) ? item : {}, 'recorded') },
      ]),
    ),
  }
}

function readRecords(value: unknown): ContractRecords | undefined {
  if (!isObject(value)) return undefined
  const observed = readShape(value['observed'])
  return {
    calls: Number(value['calls']) || 0,
    errors: Number(value['errors']) || 0,
    arguments: readValues(value['arguments']),
    results: readValues(value['results']),
    ...(observed && { observed }),
  }
}

function readValues(list: unknown): readonly RecordedValue[] {
  return (Array.isArray(list) ? list : []).flatMap((item: unknown) =>
    isObject(item) && Object.hasOwn(item, 'value')
      ? [{ value: item['value'], times: Number(item['times']) || 1 }]
      : [],
  )
}
