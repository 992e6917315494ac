import { rmSync, statSync } from 'node:fs'
import { ReelayError } from '../../errors.ts'
import { type FilterExpression, parseFilter } from '../../filter/filter.ts'
import { exchangeSubject, summarizeExchange, type ExchangeFacts } from '../../report/exchanges.ts'
import { inspectTape } from '../../report/inspect/inspect.ts'
import { jsonDocument, jsonValue } from '../../report/json-text.ts'
import { alignRows, columnTitle, formatDuration } from '../../report/table.ts'
import { listTapes, type TapeSummary } from '../../store/file/list.ts'
import { openTape, readTape } from '../../store/file/read.ts'
import { checkTape, repairTape, type TapeCheck } from '../../store/file/validate.ts'
import { resolveTape, tapeFolder } from '../../store/home.ts'
import { escapeControlChars, quoteTapeArgument, truncateText } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option, usageError, type ValueType } from '../options/option.ts'
import { countValue, listOf, switchOn, textValue } from '../options/option-types.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { clearProgress, showProgress } from '../output/progress.ts'
import { redactTapeForOutput } from '../output/redact-output.ts'

type ListedTape = Extract<TapeSummary, { kind: 'tape' }>

/** How long ago, such as `30d`, or a date. The value is the time in milliseconds. */
const sinceValue: ValueType<number> = {
  kind: 'value',
  name: 'time',
  placeholder: 'time',
  expected: 'a date such as 2026-11-01, or how long ago: 30d, 12h, 45m',
  parse: (given) => {
    const [, count, unit = ''] = /^(\d{1,6})([dhm])$/.exec(given) ?? []
    if (count !== undefined) return Date.now() - Number(count) * (UNITS[unit] ?? 0)
    const date = /^\d{4}-\d{2}-\d{2}/.test(given) ? Date.parse(given) : NaN
    return Number.isNaN(date) ? undefined : date
  },
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 }

interface SearchFlags {
  readonly since?: number
  readonly agent?: string
  readonly endpoint?: string
  readonly session?: string
  readonly tag?: readonly string[]
  readonly limit?: number
  readonly json?: true
}

interface FoundExchange {
  readonly tape: string
  readonly exchange: ExchangeFacts
}

export const searchCommand: CommandDefinition = defineCommand<SearchFlags>({
  name: 'search',
  usage: '[options] <filter> [tapes…]',
  arguments: {
    '<filter>': 'Filter of exchanges, such as \'tool:search status:error "rate limit"\'',
    '[tapes...]': 'Tapes to search; by default all in the tape folder',
  },
  options: {
    since: option('--since', sinceValue, 'Search only tapes that were recorded since then'),
    agent: option('--agent <id>', textValue, 'Search only tapes with this agent id'),
    endpoint: option('--endpoint <id>', textValue, 'Search only tapes with this endpoint id'),
    session: option('--session <id>', textValue, 'Search only tapes with this session id'),
    tag: option('--tag <key=value>', listOf(textValue), 'Search only tapes with this tag (repeatable)'),
    limit: option('--limit', countValue(), 'Stop after this many exchanges', { default: '100' }),
    json: jsonOption,
  },
  run: async ([text = '', ...names], flags) => {
    const filter = parseFilter(text)
    const tapes = names.length > 0 ? names.map((name) => resolveTape(name)) : await tapesIn(flags)
    const found: FoundExchange[] = []
    const { limit = 100 } = flags
    for (const [at, tape] of tapes.entries()) {
      showProgress(`searching tape ${at + 1} of ${tapes.length}`)
      for (const exchange of await matchesIn(tape, filter))
        if (found.length < limit) found.push({ tape, exchange })
      if (found.length >= limit) break
    }
    clearProgress()
    print(flags.json ? foundAsJson(found) : foundAsText(found, tapes.length))
    process.exitCode = found.length === 0 ? 1 : 0
  },
})

/** The tapes of the folder with the wanted labels, newest first. */
async function tapesIn({
  since,
  agent,
  endpoint,
  session,
  tag = [],
}: SearchFlags): Promise<readonly string[]> {
  const tapes = (await listTapes(tapeFolder())).filter((each) => each.kind === 'tape')
  return tapes
    .filter(({ started, labels }) => {
      if (since !== undefined && Date.parse(started) < since) return false
      if (agent !== undefined && labels.agent !== agent) return false
      if (endpoint !== undefined && labels.endpoint !== endpoint) return false
      if (session !== undefined && labels.session !== session) return false
      return tag.every((pair) => {
        const at = pair.indexOf('=')
        return at > 0 && labels.tags[pair.slice(0, at)] === pair.slice(at + 1)
      })
    })
    .map(({ path }) => path)
}

/** A tape that cannot be read is left out; `reelay validate` says why. */
async function matchesIn(path: string, filter: FilterExpression): Promise<readonly ExchangeFacts[]> {
  try {
    const { tape } = redactTapeForOutput(await openTape(path))
    return inspectTape(await readTape(tape)).exchanges.filter((each) => filter.matches(exchangeSubject(each)))
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const hint = error.code === 'TAPE_NOT_FOUND' ? `; ${error.hint}` : ''
    process.stderr.write(`reelay search: ${escapeControlChars(error.message + hint)}\n`)
    return []
  }
}

function foundAsText(found: readonly FoundExchange[], tapes: number): string {
  if (found.length === 0) return `nothing found in ${tapes} ${tapes === 1 ? 'tape' : 'tapes'}\n`
  const rows = found.map(({ tape, exchange }) => {
    const { sequence, title, latencyMs, outcome } = summarizeExchange(exchange)
    return [
      { text: escapeControlChars(quoteTapeArgument(tape)) },
      { text: String(sequence), align: 'right' as const },
      { text: truncateText(title, 48) },
      { text: latencyMs === undefined ? '' : formatDuration(latencyMs), align: 'right' as const },
      { text: outcome.text },
    ]
  })
  const titles = ['tape', '#', 'request', 'latency', 'outcome'].map((title) => columnTitle(title))
  return `${alignRows([titles, ...rows]).join('\n')}\n`
}

function foundAsJson(found: readonly FoundExchange[]): string {
  return jsonDocument({
    exchanges: found.map(({ tape, exchange }) => {
      const { sequence, title, latencyMs, outcome } = summarizeExchange(exchange)
      return jsonValue({
        tape,
        exchange: sequence,
        request: title,
        latencyMs: latencyMs ?? null,
        outcome: outcome.kind,
        text: outcome.text,
      })
    }),
  })
}

export const validateCommand: CommandDefinition = defineCommand<{ fix?: true; json?: true }>({
  name: 'validate',
  usage: '[options] [tapes…]',
  arguments: { '[tapes...]': 'Tapes to check; by default all in the tape folder' },
  options: {
    fix: option('--fix', switchOn, 'Leave out lines that cannot be read, and add a missing end'),
    json: jsonOption,
  },
  run: async (names, { fix, json }) => {
    const paths = await namedOrAll(names)
    const checks: TapeCheck[] = []
    for (const [at, path] of paths.entries()) {
      showProgress(`checking tape ${at + 1} of ${paths.length}`)
      const check = await checkTape(path)
      checks.push(check)
      if (fix && !isValid(check) && check.unreadable === undefined) await repairTape(check)
    }
    clearProgress()
    const isFixed = (check: TapeCheck): boolean => fix === true && check.unreadable === undefined
    print(
      json
        ? jsonDocument({ tapes: checks.map((check) => jsonValue({ ...check, isValid: isValid(check) })) })
        : checks.map((check) => checkText(check, isFixed(check))).join(''),
    )
    process.exitCode = checks.every((check) => isValid(check) || isFixed(check)) ? 0 : 1
  },
})

async function namedOrAll(names: readonly string[]): Promise<readonly string[]> {
  if (names.length > 0) return names.map((name) => resolveTape(name))
  return (await listTapes(tapeFolder())).map(({ path }) => path)
}

function isValid({ ended, problems, unreadable }: TapeCheck): boolean {
  return ended && problems.length === 0 && unreadable === undefined
}

function checkText(check: TapeCheck, isFixed: boolean): string {
  const { path, frames, ended, problems, unreadable, hint } = check
  if (isValid(check)) return `valid    ${escapeControlChars(path)}  ${frames} frames\n`
  const lines = [
    ...(unreadable === undefined ? [] : [unreadable]),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
    ...problems.map(({ line, why }) => `line ${line}: ${why}`),
    ...(ended || unreadable !== undefined ? [] : ['no end: cut off, or still being recorded']),
  ]
  const word = isFixed ? 'fixed  ' : 'invalid'
  return [`${word}  ${path}`, ...lines.map((line) => `  ${line}`)]
    .map((line) => `${escapeControlChars(line)}\n`)
    .join('')
}

export const removeCommand: CommandDefinition = defineCommand({
  name: 'rm',
  arguments: { '<tapes...>': 'Tapes to delete' },
  options: {},
  run: async (names) => {
    const paths = names.map((name) => resolveTape(name))
    for (const path of paths) await openTape(path) // throws unless it is a tape
    for (const path of paths) {
      rmSync(path)
      print(`deleted ${escapeControlChars(path)}\n`)
    }
  },
})

interface PruneFlags {
  readonly before?: number
  readonly keep?: number
  readonly yes?: true
}

export const pruneCommand: CommandDefinition = defineCommand<PruneFlags>({
  name: 'prune',
  options: {
    before: option('--before', sinceValue, 'Delete tapes that were recorded before then'),
    keep: option('--keep', countValue(), 'Keep this many of the newest tapes, whatever their age'),
    yes: option('--yes', switchOn, 'Delete them; without it they are only listed'),
  },
  run: async (_, { before, keep = 0, yes }) => {
    if (before === undefined && keep === 0)
      throw usageError('prune needs to know which tapes to delete', 'add --before 30d, --keep 20, or both')
    const tapes = (await listTapes(tapeFolder())).filter((each): each is ListedTape => each.kind === 'tape')
    const chosen = tapes
      .slice(keep)
      .filter(({ started, ended }) => ended && (before === undefined || Date.parse(started) < before))
    const bytes = chosen.reduce((sum, { path }) => sum + statSync(path).size, 0)
    for (const { path } of chosen) {
      if (yes) rmSync(path)
      print(`${yes ? 'deleted' : 'would delete'} ${escapeControlChars(path)}\n`)
    }
    const summary = `${chosen.length} of ${tapes.length} tapes, ${(bytes / 1e6).toFixed(1)} MB`
    process.stderr.write(yes || chosen.length === 0 ? `${summary}\n` : `${summary}; --yes deletes them\n`)
  },
})
