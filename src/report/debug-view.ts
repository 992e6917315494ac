import { styleText } from 'node:util'
import { findRange } from '../json/find-replace.ts'
import type {
  DoneEvent,
  MessageOutline,
  MessageView,
  ShownBinding,
  StopReason,
  StoppedEvent,
} from '../replay/control/commands.ts'
import { hasFailed } from '../replay/steps/step.ts'
import { exchangeLabel } from '../tape/turns.ts'
import { escapeControlChars, escapeControlCharsInJson, truncateText } from '../text.ts'
import { indentJson } from './json-text.ts'
import { findingText } from './replay.ts'
import { formatDuration } from './table.ts'

export interface DebugViewOptions {
  /** False leaves out how long responses took, so that the output of a script is the same each time. */
  readonly showsTimes: boolean
  /** How many lines of a message are shown. */
  readonly maxLines: number
}

/** What is shown where a run has stopped: the message, the request with its bindings, and if it was sent, the response and differences. */
export function stopAsText(
  { reason, breakpoints, phase, message }: Pick<StoppedEvent, 'reason' | 'breakpoints' | 'phase' | 'message'>,
  options: DebugViewOptions,
): string {
  if (message === undefined) return `${bold('end of the tape')}: all messages are done\n`
  const why = breakpoints.length > 0 ? `${REASONS[reason]} ${breakpoints.join(', ')}` : REASONS[reason]
  const place = phase === 'response' ? ', after its response' : message.isNext ? '' : ', already sent'
  const title = `${bold(messageName(message))}  ${styleText('dim', `frame ${message.frame}, ${why}${place}`)}\n`
  return [title, requestAsText(message, options), message.isNext ? '' : outcomeAsText(message, options)].join(
    '',
  )
}

const REASONS: Readonly<Record<StopReason, string>> = {
  entry: 'first message',
  step: 'step',
  back: 'earlier message',
  breakpoint: 'breakpoint',
  difference: 'difference, breakpoint',
  pause: 'paused',
  seek: 'goto',
  failure: 'failed',
  end: 'end',
}

/** A message that is done on one line, followed by its differences. */
export function doneAsText(event: DoneEvent, { showsTimes }: DebugViewOptions): string {
  const { state, why, duration, findings, exchange } = event
  const isOpen = exchange !== undefined && duration === undefined
  const word = state !== 'done' ? state : hasFailed(event) ? 'differs' : isOpen ? 'open' : 'ok'
  const style = word === 'ok' ? 'green' : /^(skipped|held|open)$/.test(word) ? 'yellow' : 'red'
  const time = duration === undefined || !showsTimes ? '' : `  ${formatDuration(duration)}`
  const reason = why === undefined ? '' : `  ${styleText('dim', escapeControlChars(why))}`
  const line = `${styleText(style, word.padEnd(7))} ${messageName(event)}${time}${reason}\n`
  // After a call that was held back, little is as recorded.
  const skipped = findings.filter(({ level }) => level === 'skip')
  if (skipped.length < 2) return line + differenceLines(findings)
  const others = differenceLines(findings.filter(({ level }) => level !== 'skip'))
  const folded = `${skipped.length} not compared, because an earlier call was not sent; "show difference" prints them`
  return `${line}${others}${heading('difference', 'yellow')} ${folded}\n`
}

/** A message that was sent and has no response yet. */
export function openAsText(message: MessageOutline): string {
  return `${styleText('yellow', 'sent   ')} ${messageName(message)}  ${styleText('dim', 'no response yet')}\n`
}

/** The number, method and tool of a message. */
export function messageName({ exchange, frame, method, tool }: MessageOutline): string {
  return escapeControlChars(
    `${exchangeLabel({ exchange, frame })} ${method}${tool === undefined ? '' : ` ${tool}`}`,
  )
}

/** The request as it is sent, with its live values marked. */
export function requestAsText(message: MessageView, options: DebugViewOptions): string {
  const { request, decision, isNext, isEdited, bindings, recorded } = message
  if (decision.kind !== 'send')
    return `${heading('request')} not sent: ${escapeControlChars(decision.why)}\n${paramsAsText(recorded, [], options)}`
  const unknown = bindings.filter(({ live }) => live === undefined).map(unknownAsText)
  const state = `${isEdited ? 'changed, ' : ''}${isNext ? 'not sent yet' : 'sent'}`
  if (request !== undefined)
    return `${heading('request')} ${state}\n${paramsAsText(request, bindings, options)}`
  const why = isNext ? 'it cannot be sent: a value that the live server creates is not known' : state
  return `${heading('request')} ${why}\n${unknown.join('')}${paramsAsText(recorded, [], options)}`
}

/** The response, and its differences from the tape. */
export function outcomeAsText(message: MessageView, options: DebugViewOptions): string {
  return responseAsText(message, options) + differencesAsText(message)
}

export function responseAsText(
  { response, state, why, duration, exchange }: MessageView,
  options: DebugViewOptions,
): string {
  if (response === undefined && exchange === undefined && state === 'done') return '' // a notification
  const time = duration === undefined || !options.showsTimes ? '' : ` after ${formatDuration(duration)}`
  if (response === undefined) {
    const reason = why === undefined && state === 'done' ? ', as on the tape' : ''
    return `${heading('response')} none${why === undefined ? reason : `: ${escapeControlChars(why)}`}\n`
  }
  return `${heading('response')}${time}\n${outcomeText(response, options)}`
}

export function differencesAsText({ findings, response, recordedResponse }: MessageView): string {
  if (findings.length > 0) return differenceLines(findings)
  const isCompared = response !== undefined && recordedResponse !== undefined
  return isCompared ? `${heading('difference')} none: as recorded\n` : ''
}

function differenceLines(findings: MessageView['findings']): string {
  const style = hasFailed({ findings }) ? 'red' : 'yellow'
  return findings
    .map((finding) => `${heading('difference', style)} ${escapeControlChars(findingText(finding))}\n`)
    .join('')
}

/** The recorded request and response. */
export function recordedAsText(
  { recorded, recordedResponse }: MessageView,
  options: DebugViewOptions,
): string {
  const response = recordedResponse === undefined ? '    none\n' : outcomeText(recordedResponse, options)
  return `${heading('recorded request')}\n${paramsAsText(recorded, [], options)}${heading('recorded response')}\n${response}`
}

export function bindingsAsList({ bindings }: Pick<MessageView, 'bindings'>): string {
  if (bindings.length === 0) return 'no bindings: the request has no values that the live server creates\n'
  return bindings
    .map((binding) =>
      binding.live === undefined
        ? unknownAsText(binding)
        : escapeControlChars(
            `  ${binding.path} = ${JSON.stringify(binding.live)}, recorded ${JSON.stringify(binding.recorded)}, from ${binding.from}`,
          ) + '\n',
    )
    .join('')
}

function unknownAsText({ path, recorded, from }: ShownBinding): string {
  return `${styleText('red', escapeControlChars(`  ${path} is not known yet: recorded ${JSON.stringify(recorded)}, comes from ${from}`))}\n`
}

/** The params of a message, indented. Lines with live values say where those come from. */
function paramsAsText(text: string, bindings: readonly ShownBinding[], options: DebugViewOptions): string {
  const range = findRange(text, ['params'])
  if (range === undefined) return '    no params\n'
  const lines = jsonLines(text.slice(range.start, range.end))
  return limited(markedLines(lines, bindings), options)
}

/** A binding marks the first line with its live value that no other binding has marked. */
function markedLines(lines: readonly string[], bindings: readonly ShownBinding[]): readonly string[] {
  const marks = new Map<number, ShownBinding[]>()
  for (const binding of bindings) {
    const { live } = binding
    if (live === undefined) continue
    const spelled = JSON.stringify(live).slice(1, -1)
    const fits = lines.flatMap((line, at) => (line.includes(spelled) ? [at] : []))
    const at = fits.find((line) => !marks.has(line)) ?? fits[0]
    if (at !== undefined) marks.set(at, [...(marks.get(at) ?? []), binding])
  }
  return lines.map((line, at) => {
    const found = marks.get(at)
    if (found === undefined) return line
    const mark = found.map(
      ({ from, recorded }) => `from ${from}, recorded ${truncateText(JSON.stringify(recorded), MAX_VALUE)}`,
    )
    return `${line}   ${styleText('cyan', escapeControlChars(`<- ${mark.join('; ')}`))}`
  })
}

const MAX_VALUE = 60

function outcomeText(response: string, options: DebugViewOptions): string {
  for (const name of ['result', 'error']) {
    const range = findRange(response, [name])
    if (range === undefined) continue
    const label = name === 'error' ? `${styleText('red', 'error')}: ` : ''
    const [first = '', ...rest] = jsonLines(response.slice(range.start, range.end))
    return limited([first.replace(/\S/, (char) => `${label}${char}`), ...rest], options)
  }
  return limited(jsonLines(response), options)
}

function jsonLines(json: string): readonly string[] {
  return indentJson(escapeControlCharsInJson(json))
    .split('\n')
    .map((line) => `    ${line}`)
}

function limited(lines: readonly string[], { maxLines }: DebugViewOptions): string {
  const shown = lines.map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line))
  if (lines.length <= maxLines) return `${shown.join('\n')}\n`
  return `${shown.slice(0, maxLines).join('\n')}\n    … ${lines.length - maxLines} more lines; "show" prints all\n`
}

const MAX_LINE = 2000

function heading(word: string, style: 'yellow' | 'red' | 'dim' = 'dim'): string {
  return `  ${styleText(style, word)}`
}

function bold(text: string): string {
  return styleText('bold', text)
}
