import { Command } from 'commander'
import type { ExchangeFacts } from '../report/exchange-facts.ts'
import { exchangeJson } from '../report/inspect-json.ts'
import { LiveExchanges } from '../report/live-exchanges.ts'
import { tailText } from '../report/tail-text.ts'
import { followTape, type FollowedTape } from '../store/follow.ts'
import { resolveTape } from '../store/home.ts'
import { visibleJson } from '../wire/visible.ts'
import { withoutSecretsOf } from './without-secrets.ts'

export const tailCommand: Command = new Command('tail')
  .description('show the exchanges of a tape as they complete, while it is being recorded')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print one JSON object a line')
  .action(async (name: string, { json }: { json?: true }) => {
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
    process.stdout.on('error', () => stop.abort('nobody reads')) // as in `| head`
    const tape = await followTape(resolveTape(name), stop.signal)
    const shown = withoutSecretsOf(tape.header)
    const lineOf = json ? jsonLine(tape) : textLine(tape)
    await show(tape, (exchange) => shown(lineOf(exchange)), stop.signal)
    process.exitCode = stop.signal.reason === 'SIGINT' ? 130 : 0
  })

type Line = (exchange: ExchangeFacts) => string

async function show(tape: FollowedTape, lineOf: Line, signal: AbortSignal): Promise<void> {
  const live = new LiveExchanges()
  for await (const frame of tape.frames()) put(live.add(frame), lineOf)
  if (!signal.aborted) put(live.rest(), lineOf)
}

function put(exchanges: readonly ExchangeFacts[], lineOf: Line): void {
  for (const exchange of exchanges) process.stdout.write(`${lineOf(exchange)}\n`)
}

function jsonLine(tape: FollowedTape): Line {
  return (exchange) => visibleJson(exchangeJson(exchange, tape))
}

function textLine({ header }: FollowedTape): Line {
  const { heading, line } = tailText(Object.keys(header.servers).length > 1)
  process.stdout.write(`${heading}\n`)
  return line
}
