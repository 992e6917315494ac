import { exchangeSubject, type ExchangeFacts } from '../../report/exchanges.ts'
import { exchangeJson } from '../../report/inspect/inspect.ts'
import { ExchangeFollower, createTailFormatter } from '../../report/tail.ts'
import type { FilterExpression } from '../../filter/filter.ts'
import { collectorUrl, SpanSender } from '../../convert/send-spans.ts'
import { followTape, type FollowedTape } from '../../store/file/follow.ts'
import { resolveTape } from '../../store/home.ts'
import type { Frame } from '../../tape/frame.ts'
import { parseServerFilter, type ServerFilter } from '../../tape/server-filter.ts'
import { escapeControlChars, escapeControlCharsInJson } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option } from '../options/option.ts'
import { collectorValue, switchOn } from '../options/option-types.ts'
import { messageFilterOption } from '../options/live-options.ts'
import { TAPE_ARGUMENT, jsonOption, serverFilter } from '../options/shared-options.ts'
import { abortOnSignals } from '../signals.ts'
import { redactTapeForOutput } from '../output/redact-output.ts'

interface TailFlags {
  readonly json?: true
  readonly server?: string
  readonly filter?: FilterExpression
  readonly otlp?: string
  readonly ui?: true
}

export const tailCommand: CommandDefinition = defineCommand<TailFlags>({
  name: 'tail',
  arguments: TAPE_ARGUMENT,
  options: {
    server: serverFilter('Show only these servers'),
    filter: messageFilterOption('--filter', 'Show only exchanges that match'),
    json: { ...jsonOption, help: 'Print one JSON object per line' },
    otlp: option(
      '--otlp <url>',
      collectorValue,
      'Send a span for each exchange to an OpenTelemetry collector, such as http://127.0.0.1:4318, instead of printing it',
      { conflicts: ['json', 'ui'] },
    ),
    ui: option(
      '--ui',
      switchOn,
      'Show the tape on the whole terminal: a list, the selected message and keys',
      {
        conflicts: ['json', 'server'],
      },
    ),
  },
  run: async ([name = ''], { json, server, filter, otlp, ui }) => {
    if (ui) {
      const { runMonitor } = await import('../ui/monitor.ts')
      const tape = resolveTape(name)
      process.exit(await runMonitor({ tape, needsControl: false, filter, signal: abortOnSignals() }))
    }
    const stop = new AbortController()
    const interrupted = abortOnSignals()
    process.once('disconnect', () => stop.abort()) // the recorder that started this process has ended
    process.stdout.on('error', () => stop.abort()) // the reader closed the output, as in `| head`
    const signal = AbortSignal.any([stop.signal, interrupted])
    const { tape, text } = redactTapeForOutput(await followTape(resolveTape(name), signal))
    const report = (problem: string): void => void process.stderr.write(`reelay tail: ${text(problem)}\n`)
    const sender =
      otlp === undefined
        ? undefined
        : new SpanSender({ url: collectorUrl(otlp), header: tape.header, text, report })
    const view = {
      show: sender === undefined ? printer(json ? jsonLine(tape) : textLine(tape), text) : sendTo(sender),
      seen: (frame: Frame) => sender?.add(frame),
      isSelected: parseServerFilter(server),
      isShown: (exchange: ExchangeFacts) => filter?.matches(exchangeSubject(exchange)) !== false,
    }
    const others = await printExchanges(tape, view, signal)
    if (server !== undefined && others)
      process.stderr.write(`no server "${server}" had an exchange: choose from ${others}\n`)
    const lost = (await sender?.end()) ?? 0
    if (lost > 0) report(`${lost} ${lost === 1 ? 'span was' : 'spans were'} not sent`)
    process.exitCode = signal.reason === 'SIGINT' ? 130 : lost > 0 ? 3 : 0
    if (process.connected) process.disconnect()
  },
})

type FormatExchange = (exchange: ExchangeFacts) => string

function printer(lineOf: FormatExchange, text: (line: string) => string): TailView['show'] {
  return (exchange) => void process.stdout.write(`${text(lineOf(exchange))}\n`)
}

function sendTo(sender: SpanSender): TailView['show'] {
  return ({ request, steps, response }) => sender.send({ trigger: request, steps, response })
}

interface TailView {
  readonly show: (exchange: ExchangeFacts) => void
  readonly seen: (frame: Frame) => void
  readonly isSelected: ServerFilter
  readonly isShown: (exchange: ExchangeFacts) => boolean
}

/** Returns the names of the other servers if no selected server had an exchange until the end of the tape. */
async function printExchanges(
  tape: FollowedTape,
  view: TailView,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = new ExchangeFollower()
  const servers = new Set<string>()
  const printAll = (exchanges: readonly ExchangeFacts[]): void => {
    for (const exchange of exchanges) {
      servers.add(exchange.request.server)
      if (view.isSelected(exchange.request.server) && view.isShown(exchange)) view.show(exchange)
    }
  }
  for await (const frame of tape.frames()) {
    view.seen(frame)
    printAll(live.add(frame))
  }
  if (signal.aborted) return undefined
  printAll(live.unanswered())
  return [...servers].some(view.isSelected) ? undefined : [...servers].map(escapeControlChars).join(', ')
}

function jsonLine(tape: FollowedTape): FormatExchange {
  return (exchange) => escapeControlCharsInJson(exchangeJson(exchange, tape))
}

function textLine({ header }: FollowedTape): FormatExchange {
  const { heading, line } = createTailFormatter(Object.keys(header.servers).length !== 1)
  process.stdout.write(`${heading}\n`)
  return line
}
