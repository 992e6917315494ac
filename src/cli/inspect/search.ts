import { statSync } from 'node:fs'
import { ReelayError } from '../../errors.ts'
import { type FilterExpression, parseFilter } from '../../filter/filter.ts'
import {
  exchangesInTurns,
  exchangeSubject,
  summarizeExchange,
  type ExchangeFacts,
} from '../../report/exchanges.ts'
import { inspectTape } from '../../report/inspect/inspect.ts'
import { jsonDocument, jsonValue } from '../../report/json-text.ts'
import { alignRows, columnTitle, formatDuration } from '../../report/table.ts'
import { fileChunks, openTape, readTape } from '../../store/file/read.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape } from '../../store/index/indexed-tape.ts'
import { turnStoreOf, type TurnStore } from '../../tape/turns.ts'
import { escapeControlChars, quoteTapeArgument, truncateText } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option } from '../options/option.ts'
import { countValue } from '../options/option-types.ts'
import { jsonOption, TAPE_CHOICE_OPTIONS, type TapeChoice } from '../options/shared-options.ts'
import { print, printTable } from '../output/print.ts'
import { clearProgress, showProgress } from '../output/progress.ts'
import { redactTapeForOutput } from '../output/redact-output.ts'
import { chosenTapes } from './list.ts'

interface SearchFlags extends TapeChoice {
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
    ...TAPE_CHOICE_OPTIONS,
    limit: option('--limit', countValue(), 'Stop after this many exchanges', { default: '100' }),
    json: jsonOption,
  },
  run: async ([text = '', ...names], flags) => {
    const filter = parseFilter(text)
    const tapes = names.length > 0 ? names.map((name) => resolveTape(name)) : await chosenTapes(flags)
    const found: FoundExchange[] = []
    const { limit = 100 } = flags
    for (const [at, tape] of tapes.entries()) {
      showProgress(`searching tape ${at + 1} of ${tapes.length}`)
      for await (const exchange of matchesIn(tape, filter)) {
        if (found.length >= limit) break
        found.push({ tape, exchange })
      }
      if (found.length >= limit) break
    }
    clearProgress()
    if (flags.json) print(foundAsJson(found))
    else await printTable([foundAsText(found, tapes.length)])
    process.exitCode = found.length === 0 ? 1 : 0
  },
})

/** The exchanges of a tape that match. A tape that cannot be read has none; `reelay validate` says why. */
async function* matchesIn(path: string, filter: FilterExpression): AsyncGenerator<ExchangeFacts> {
  const isMatch = (exchange: ExchangeFacts): boolean => filter.matches(exchangeSubject(exchange))
  try {
    const reader = await openTape(path)
    const isRedacted = reader.header.redaction !== undefined
    // Placeholders stand in for secrets only when an unredacted tape is shown, so its bytes do not tell.
    if (isRedacted && !(await mayContain(path, filter.neededTexts))) return
    if (statSync(path).size <= LARGE_BYTES || !isRedacted) {
      const { tape } = redactTapeForOutput(reader)
      yield* inspectTape(await readTape(tape)).exchanges.filter(isMatch)
      return
    }
    const tape = await openIndexedTape(path)
    try {
      const turns = turnStoreOf(tape.turns)
      for (let at = 0; at < turns.size; at++) {
        const { trigger, hasSteps } = turns.summary(at)
        if (trigger !== 'request') continue
        if (!hasSteps && !mayHaveTexts(turns, at, filter.neededTexts)) continue
        const turn = turns.at(at)
        if (turn !== undefined)
          yield* exchangesInTurns([{ ...turn, exchange: turns.exchangeOf(at) }]).filter(isMatch)
      }
    } finally {
      tape.close()
    }
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const hint = error.code === 'TAPE_NOT_FOUND' ? `; ${error.hint}` : ''
    process.stderr.write(`reelay search: ${escapeControlChars(error.message + hint)}\n`)
  }
}

/** Looks at the lines of a request and its response without parsing them. */
function mayHaveTexts(turns: TurnStore, at: number, texts: readonly string[]): boolean {
  if (texts.length === 0) return true
  const lines = `${turns.trigger(at)?.text ?? ''}${turns.responseText(at)}`.toLowerCase()
  return lines.includes(UNICODE_ESCAPE) || texts.every((text) => lines.includes(text))
}

/** Longer tapes are read exchange by exchange. */
const LARGE_BYTES = 64 * 1024 * 1024

/** Returns false if a file certainly lacks one of the texts. Most tapes need not be parsed then. */
async function mayContain(path: string, texts: readonly string[]): Promise<boolean> {
  const missing = new Set(texts)
  const overlap = Math.max(0, ...texts.map(({ length }) => length - 1))
  let end = ''
  for await (const chunk of fileChunks(path)) {
    if (missing.size === 0) return true
    const part =
      end + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1').toLowerCase()
    if (part.includes(UNICODE_ESCAPE)) return true
    for (const text of missing) if (part.includes(text)) missing.delete(text)
    end = part.slice(-Math.max(1, overlap))
  }
  return missing.size === 0
}

const UNICODE_ESCAPE = String.raw`\u`

function foundAsText(found: readonly FoundExchange[], tapes: number): string {
  if (found.length === 0) return `nothing found in ${tapes} ${tapes === 1 ? 'tape' : 'tapes'}\n`
  const rows = found.map(({ tape, exchange }) => {
    const { sequence, title, latencyMs, outcome, arguments: given } = summarizeExchange(exchange)
    return [
      { text: escapeControlChars(quoteTapeArgument(tape)) },
      { text: String(sequence), align: 'right' as const },
      { text: truncateText(title, 48) },
      { text: latencyMs === undefined ? '' : formatDuration(latencyMs), align: 'right' as const },
      { text: outcome.text },
      { text: given, style: 'dim' as const },
    ]
  })
  const titles = ['tape', '#', 'request', 'latency', 'outcome', 'arguments'].map((title) =>
    columnTitle(title),
  )
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
