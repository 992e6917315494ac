import { Command } from 'commander'
import type { ExchangeFacts } from '../report/exchanges/exchange.ts'
import { exchangeJson } from '../report/inspect/inspect-json.ts'
import { ExchangeFollower, createTailFormatter } from '../report/tail.ts'
import { followTape, type FollowedTape } from '../store/file/follow.ts'
import { resolveTape } from '../store/home.ts'
import { parseServerFilter, type ServerFilter } from '../tape/server-filter.ts'
import { escapeControlChars, escapeControlCharsInJson } from '../text.ts'
import { redactTapeForOutput } from './output/redact-output.ts'

export const tailCommand: Command = new Command('tail')
  .description('show the exchanges of a tape as they complete, while it is being recorded')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print one JSON object a line')
  .option('--server <filter>', 'show these servers only: names with commas between, * for anything')
  .action(async (name: string, { json, server }: { json?: true; server?: string }) => {
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
    process.once('disconnect', () => stop.abort('the recorder is gone')) // it started us, and talks to us no more
    process.stdout.on('error', () => stop.abort('nobody reads')) // as in `| head`
    const { tape, text } = redactTapeForOutput(await followTape(resolveTape(name), stop.signal))
    const lineOf = json ? jsonLine(tape) : textLine(tape)
    const view = {
      lineOf: (exchange: ExchangeFacts) => text(lineOf(exchange)),
      isMeant: parseServerFilter(server),
    }
    const passedOver = await printExchanges(tape, view, stop.signal)
    if (server !== undefined && passedOver)
      process.stderr.write(`no server "${server}" had an exchange: choose from ${passedOver}\n`)
    process.exitCode = stop.signal.reason === 'SIGINT' ? 130 : 0
    if (process.connected) process.disconnect()
  })

type FormatExchange = (exchange: ExchangeFacts) => string

interface TailView {
  readonly lineOf: FormatExchange
  readonly isMeant: ServerFilter
}

/** Gives the servers that were passed over, when nobody else had an exchange until the end of the tape. */
async function printExchanges(
  tape: FollowedTape,
  view: TailView,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = new ExchangeFollower()
  const spoken = new Set<string>()
  const put = (exchanges: readonly ExchangeFacts[]): void => {
    for (const exchange of exchanges) {
      spoken.add(exchange.request.server)
      if (view.isMeant(exchange.request.server)) process.stdout.write(`${view.lineOf(exchange)}\n`)
    }
  }
  for await (const frame of tape.frames()) put(live.add(frame))
  if (signal.aborted) return undefined
  put(live.unanswered())
  return [...spoken].some(view.isMeant) ? undefined : [...spoken].map(escapeControlChars).join(', ')
}

function jsonLine(tape: FollowedTape): FormatExchange {
  return (exchange) => escapeControlCharsInJson(exchangeJson(exchange, tape))
}

function textLine({ header }: FollowedTape): FormatExchange {
  const { heading, line } = createTailFormatter(Object.keys(header.servers).length !== 1)
  process.stdout.write(`${heading}\n`)
  return line
}
