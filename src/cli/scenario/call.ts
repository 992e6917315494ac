import { ReelayError } from '../../errors.ts'
import { member } from '../../json/parse.ts'
import { LiveClient } from '../../replay/session/live-client.ts'
import { InputSchema, readArguments, toolsInLists, type ListedTool } from '../../scenario/tool-arguments.ts'
import { requireNewTape, removeTapes } from '../../store/file/write.ts'
import { resolveTape } from '../../store/home.ts'
import { escapeControlChars, similarName } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { LIVE_SERVER_OPTIONS, splitServerCommand, type LiveServerFlags } from '../options/live-options.ts'
import { option, type OptionRow, type OptionTable } from '../options/option.ts'
import { durationValue, newTapeValue, switchOn } from '../options/option-types.ts'
import { jsonOption, overwriteOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { FoldedStderr, printRunTape, readReplayTarget } from '../replay/replay-target.ts'
import { recordSessions } from '../../replay/record-target.ts'
import { abortOnSignals } from '../signals.ts'
import { keepToolsForCompletion } from './known-tools.ts'

export interface LiveCallFlags extends LiveServerFlags {
  readonly record?: string
  readonly overwrite?: true
  readonly timeout?: number
}

const timeoutOption: OptionRow<number> = option(
  '--timeout',
  durationValue('ms', 1),
  'Wait this long for each response of the server',
  { default: '60s' },
)

/** Options of the commands that make calls of their own. */
export const LIVE_CALL_OPTIONS: OptionTable<LiveCallFlags> = {
  record: option('--record <tape>', newTapeValue, 'Record the session to a tape with this name or path'),
  overwrite: { ...overwriteOption, needs: { record: true } },
  timeout: timeoutOption,
  ...LIVE_SERVER_OPTIONS,
}

interface CallFlags extends LiveCallFlags {
  readonly json?: true
  readonly prompt?: true
  readonly resource?: true
}

export const callCommand: CommandDefinition = defineCommand<CallFlags>({
  name: 'call',
  usage:
    '[options] <tool> [<key>=<value>…] -- <server command…>\n' +
    '       reelay call [options] --url <url> <tool> [<key>=<value>…]\n' +
    '       reelay call [options] -- <server command…>      (lists the tools)',
  arguments: {
    '[words...]': 'The tool and its arguments, then -- and the command that starts the server',
  },
  options: {
    json: jsonOption,
    prompt: option('--prompt', switchOn, 'Get a prompt instead of calling a tool', {
      conflicts: ['resource'],
    }),
    resource: option('--resource', switchOn, 'Read the resource with this URI instead of calling a tool'),
    ...LIVE_CALL_OPTIONS,
  },
  notes:
    'key=value has the type that the schema of the tool asks for; lists and objects are written as JSON.\n' +
    'key:=value is always JSON.',
  run: async (given, flags) => {
    const { words, command } = splitServerCommand(given)
    const [tool, ...args] = words
    await withLiveClient(command, flags, async (client) => {
      if (flags.prompt || flags.resource) return callOther(client, words, flags)
      const tools = await fetchListedTools(client)
      keepToolsForCompletion(tools)
      if (tool === undefined) return printTools(tools, flags)
      await callTool(client, { tool: findTool(tool, tools), args }, flags)
    })
  },
})

/** Opens the server of the command line, recorded if the user wants that, for the time of `use`. */
export async function withLiveClient<Result>(
  command: readonly string[],
  flags: LiveCallFlags,
  use: (client: LiveClient) => Promise<Result>,
): Promise<Result> {
  const stderr = new FoldedStderr(false)
  const live = readReplayTarget(command, flags, (chunk) => stderr.add(chunk))
  const path = flags.record === undefined ? undefined : resolveTape(flags.record)
  if (path !== undefined) {
    requireNewTape(path, flags.overwrite)
    if (flags.overwrite) removeTapes(path)
  }
  const recorded = path === undefined ? undefined : recordSessions(live, { path, command })
  const signal = abortOnSignals()
  try {
    const client = await LiveClient.open(recorded?.target ?? live, {
      timeout: flags.timeout ?? 60_000,
      signal,
      ...(recorded && { onOpened: recorded.onOpened }),
    })
    try {
      return await use(client)
    } finally {
      await client.close()
    }
  } catch (error) {
    if (error instanceof ReelayError && error.code === 'USAGE') throw error
    throw stderr.explained(error)
  } finally {
    printRunTape(await recorded?.closeTape())
    if (signal.aborted) process.exitCode = 130
  }
}

export async function fetchListedTools(client: LiveClient): Promise<readonly ListedTool[]> {
  return client.offers('tools') ? toolsInLists(await client.listPages('tools/list')) : []
}

function findTool(name: string, tools: readonly ListedTool[]): ListedTool {
  const found = tools.find((each) => each.name === name)
  if (found !== undefined) return found
  const names = tools.map((each) => each.name)
  const listed = `it has ${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''}`
  const similar = similarName(name, names)
  throw new ReelayError('USAGE', `the server has no tool ${name}`, {
    hint:
      names.length === 0 ? 'it lists no tools' : similar === undefined ? listed : `did you mean ${similar}?`,
  })
}

const MOST_NAMED = 20

/** Gets a prompt, whose arguments are texts, or reads a resource. */
async function callOther(client: LiveClient, words: readonly string[], flags: CallFlags): Promise<void> {
  const [name, ...args] = words
  const what = flags.prompt ? 'prompt' : 'resource'
  if (name === undefined || (flags.resource && args.length > 0))
    throw new ReelayError('USAGE', `--${what} needs ${flags.prompt ? 'the name of a prompt' : 'one URI'}`, {
      hint: flags.prompt
        ? 'write reelay call --prompt <name> key=value -- <server command>'
        : 'write reelay call --resource <uri> -- <server command>',
    })
  const texts = args.map((word) => {
    const at = word.indexOf('=')
    if (at <= 0)
      throw new ReelayError('USAGE', `${word} is not an argument`, { hint: 'write it as key=value' })
    return [word.slice(0, at), word.slice(at + 1)] as const
  })
  const outcome = flags.prompt
    ? await client.request('prompts/get', { name, arguments: Object.fromEntries(texts) })
    : await client.request('resources/read', { uri: name })
  printOutcome(name, outcome, flags)
}

interface ToolCall {
  readonly tool: ListedTool
  readonly args: readonly string[]
}

async function callTool(client: LiveClient, { tool, args }: ToolCall, flags: CallFlags): Promise<void> {
  const { values, notes } = readArguments(args, tool)
  for (const note of notes) process.stderr.write(`reelay: ${escapeControlChars(note)}\n`)
  printOutcome(tool.name, await client.request('tools/call', { name: tool.name, arguments: values }), flags)
}

function printOutcome(
  name: string,
  outcome: Awaited<ReturnType<LiveClient['request']>>,
  { json }: Pick<CallFlags, 'json'>,
): void {
  const shown = createOutputRedactor()
  if ('error' in outcome) {
    process.exitCode = 1
    if (json) return print(`${shown(JSON.stringify({ error: outcome.error }, undefined, 2))}\n`)
    return void process.stderr.write(`${shown(describeError(name, outcome.error))}\n`)
  }
  if (member(outcome.result, 'isError') === true) process.exitCode = 1
  if (json) return print(`${shown(JSON.stringify(outcome.result, undefined, 2))}\n`)
  print(`${shown(resultText(outcome.result))}\n`)
  if (process.exitCode === 1) process.stderr.write(`reelay: ${name} failed: its result has isError\n`)
}

function describeError(tool: string, error: unknown): string {
  const [code, message, data] = ['code', 'message', 'data'].map((name) => member(error, name))
  const more = data === undefined ? '' : ` ${JSON.stringify(data)}`
  return escapeControlChars(
    `reelay: ${tool} was answered with error ${String(code)}: ${String(message)}${more}`,
  )
}

/** The content of a result as text. What has no text form is shown as JSON. */
function resultText(result: unknown): string {
  const structured = member(result, 'structuredContent')
  const items = contentOf(result)
  const texts = items.map((item) => {
    const [type, text, data] = [member(item, 'type'), member(item, 'text'), member(item, 'data')]
    if ((type === 'text' || type === undefined) && typeof text === 'string') return printable(text)
    if (typeof data === 'string')
      return `[${String(type)} ${String(member(item, 'mimeType'))}, ${data.length} characters of base64]`
    return JSON.stringify(item)
  })
  if (texts.length > 0) return texts.join('\n')
  return JSON.stringify(structured ?? result, undefined, 2)
}

/** The content of a tool, of the messages of a prompt, or of a resource. */
function contentOf(result: unknown): readonly unknown[] {
  const [content, messages, contents] = ['content', 'messages', 'contents'].map((name) =>
    member(result, name),
  )
  if (Array.isArray(messages)) return messages.map((message) => member(message, 'content'))
  return [content, contents].find((list) => Array.isArray(list)) ?? []
}

/** Lines stay lines; other control characters are shown, because the text may come from anybody. */
function printable(text: string): string {
  return text.split(/\r?\n/).map(escapeControlChars).join('\n')
}

function printTools(tools: readonly ListedTool[], { json }: CallFlags): void {
  const shown = createOutputRedactor()
  if (json) return print(`${shown(JSON.stringify(tools, undefined, 2))}\n`)
  const lines = tools.map((tool) => {
    const about = escapeControlChars((tool.description ?? '').trim().split('\n')[0] ?? '')
    return `${usageLine(tool)}${about === '' ? '' : `\n    ${about}`}\n`
  })
  print(shown(lines.join('')) || 'the server lists no tools\n')
}

/** The tool with its arguments, as they are given to `reelay call`. */
function usageLine(tool: ListedTool): string {
  const schema = new InputSchema(tool)
  const required = new Set(schema.required)
  const args = schema.names.map((name) => {
    const shown = `${name}=<${schema.describe(name) ?? 'value'}>`
    return required.has(name) ? shown : `[${shown}]`
  })
  return escapeControlChars([tool.name, ...args].join(' '))
}
