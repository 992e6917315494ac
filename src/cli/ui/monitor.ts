import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ControlClient } from '../../control/control-client.ts'
import { errorMessage, ReelayError } from '../../errors.ts'
import { parseFilter, type FilterExpression } from '../../filter/filter.ts'
import { isObject, parseJson, type JsonObject } from '../../json/parse.ts'
import { parseRpcError, type ResponsePayload } from '../../protocol/message.ts'
import type { HeldFacts } from '../../record/intercept/interceptor.ts'
import {
  exchangesInTurns,
  exchangeSubject,
  MissingResponses,
  withMissingResponses,
  type ExchangeFacts,
} from '../../report/exchanges.ts'
import { indentJson } from '../../report/json-text.ts'
import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'
import { followTape } from '../../store/file/follow.ts'
import { TurnBuilder } from '../../tape/turn-builder.ts'
import { quoteShellWord } from '../../text.ts'
import { redactTapeForOutput } from '../output/redact-output.ts'
import { drawMonitor, listLength, type HeldRow, type MonitorState } from './monitor-view.ts'
import { TerminalSession, type Key } from './terminal-session.ts'

interface MonitorOptions {
  readonly tape: string
  /** Fails if nothing that can be controlled writes the tape. */
  readonly needsControl: boolean
  readonly filter: FilterExpression | undefined
  /** Ends the monitor. */
  readonly signal: AbortSignal
}

/** Shows a tape on the whole terminal while it is written, and decides about held messages. Returns the exit code. */
export async function runMonitor(options: MonitorOptions): Promise<number> {
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const monitor = new Monitor(options, (code) => stop.abort(code))
  const control = await openControl(options, monitor.onEvent)
  monitor.start(control)
  try {
    await monitor.follow(signal)
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  } finally {
    monitor.close()
    control?.close()
  }
  return typeof stop.signal.reason === 'number' ? stop.signal.reason : 130
}

async function openControl(
  { tape, needsControl }: MonitorOptions,
  onEvent: (event: JsonObject) => void,
): Promise<ControlClient | undefined> {
  try {
    return await ControlClient.open({ tape, name: 'terminal', onEvent })
  } catch (error) {
    const isMissing = error instanceof ReelayError && error.code === 'CONTROL_NOT_FOUND'
    if (needsControl || !isMissing) throw error
    return undefined // a tape that nobody controls can still be read
  }
}

const REFRESH_MS = 200

class Monitor {
  readonly #leave: (code: number) => void
  #builder = new TurnBuilder()
  #missing = new MissingResponses()
  #tape: string
  #signal: AbortSignal | undefined
  readonly #redactor = createThrowawayRedactor()
  readonly #held = new Map<string, HeldRow>()
  readonly #repeated = new Map<number, string>()
  #control: ControlClient | undefined
  #terminal: TerminalSession | undefined
  #clock: NodeJS.Timeout | undefined
  #all: readonly ExchangeFacts[] = []
  #exchanges: readonly ExchangeFacts[] = []
  #isStale = false
  #isLive = true
  #viewFilter: FilterExpression | undefined
  #interceptFilter = ''
  #selected = 0
  /** Whether the last exchange stays selected when a further one comes. */
  #isFollowing = true
  #detailTop = 0
  #prompt: { label: string; text: string; onDone: (text: string) => void } | undefined
  #status: MonitorState['status'] = { text: '', style: 'dim' }
  #isHelpShown = false
  #isBusy = false

  constructor(options: MonitorOptions, leave: (code: number) => void) {
    this.#tape = options.tape
    this.#leave = leave
    this.#viewFilter = options.filter
  }

  start(control: ControlClient | undefined): void {
    this.#control = control
    this.#terminal = new TerminalSession({
      onKey: (key) => this.#onKey(key),
      draw: (size) => drawMonitor(this.#state(), size, performance.now()),
    })
    this.#clock = setInterval(() => this.#refresh(), REFRESH_MS)
    void control?.closed.then(() => this.#onControlClosed())
  }

  close(): void {
    clearInterval(this.#clock)
    this.#terminal?.close()
  }

  async follow(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    const { tape } = redactTapeForOutput(await followTape(this.#tape, signal))
    const [builder, missing] = [this.#builder, this.#missing]
    for await (const frame of tape.frames()) {
      builder.add(frame)
      missing.add(frame)
      this.#isStale = true
    }
    if (builder !== this.#builder) return // the recording goes on with another tape
    this.#isLive = false
    this.#refresh()
  }

  #followNext(tape: string): void {
    if (this.#signal === undefined) return
    this.#tape = tape
    this.#builder = new TurnBuilder()
    this.#missing = new MissingResponses()
    this.#repeated.clear()
    this.#isLive = true
    this.#say(`the recording goes on with ${tape}`)
    void this.follow(this.#signal).catch((error: unknown) => this.#say(errorMessage(error), 'red'))
  }

  readonly onEvent = (event: JsonObject): void => {
    switch (event['event']) {
      case 'hello':
      case 'filter':
        this.#interceptFilter = typeof event['filter'] === 'string' ? event['filter'] : ''
        break
      case 'held':
        this.#addHeld(event['message'] as HeldFacts)
        break
      case 'settled':
        this.#removeHeld(String(event['key']))
        if (event['by'] !== 'terminal')
          this.#say(
            `${String(event['key'])}: ${String(event['action'])}, ${String(event['why'] ?? event['by'])}`,
          )
        break
      case 'extended':
        this.#extendHeld(String(event['key']), Number(event['leftMs']))
        break
      case 'tape':
        this.#followNext(String(event['tape']))
        break
      case 'passed':
        this.#say(
          `a message from the ${event['dir'] === 'c2s' ? 'client' : 'server'} was not held: ${String(event['why'])}`,
          'yellow',
        )
        break
      case 'repeated':
        this.#repeated.set(Number(event['exchange']), String(event['response']))
        break
      default:
        break // later versions have more events
    }
    this.#terminal?.redraw()
  }

  #addHeld(facts: HeldFacts): void {
    this.#held.set(facts.key, { facts, deadline: performance.now() + facts.leftMs })
    if (this.#held.size === 1) this.#select(0)
    else if (this.#selected >= this.#held.size - 1) this.#selected++ // the same exchange stays selected
    this.#status = { text: '', style: 'dim' }
  }

  #removeHeld(key: string): void {
    const at = [...this.#held.keys()].indexOf(key)
    if (!this.#held.delete(key)) return
    if (at < this.#selected) this.#selected--
    if (this.#held.size === 0 && this.#isFollowing) this.#selected = listLength(this.#lists()) - 1
    this.#select(Math.min(this.#selected, listLength(this.#lists()) - 1), this.#isFollowing)
  }

  #extendHeld(key: string, leftMs: number): void {
    const row = this.#held.get(key)
    if (row !== undefined) this.#held.set(key, { ...row, deadline: performance.now() + leftMs })
  }

  #onControlClosed(): void {
    this.#held.clear()
    this.#control = undefined
    this.#refresh()
  }

  /** Reads the exchanges again if frames have come. The countdown is drawn in any case. */
  #refresh(): void {
    if (this.#isStale) {
      this.#isStale = false
      this.#all = withMissingResponses(exchangesInTurns(this.#builder.turns()), this.#missing)
      this.#applyFilter()
    }
    this.#terminal?.redraw()
  }

  #applyFilter(): void {
    const filter = this.#viewFilter
    this.#exchanges =
      filter === undefined
        ? this.#all
        : this.#all.filter((exchange) => filter.matches(exchangeSubject(exchange)))
    const last = listLength(this.#lists()) - 1
    if (this.#isFollowing && this.#held.size === 0) this.#select(last, true)
    else this.#selected = Math.max(0, Math.min(this.#selected, last))
  }

  #lists(): Pick<MonitorState, 'held' | 'exchanges'> {
    return { held: [...this.#held.values()], exchanges: this.#exchanges }
  }

  #state(): MonitorState {
    return {
      ...this.#lists(),
      tape: this.#tape,
      isLive: this.#isLive,
      isAttached: this.#control !== undefined,
      interceptFilter: this.#interceptFilter,
      viewFilter: this.#viewFilter?.text ?? '',
      exchangeCount: this.#all.length,
      selected: this.#selected,
      detailTop: this.#detailTop,
      prompt: this.#prompt,
      status: this.#status,
      isHelpShown: this.#isHelpShown,
      repeated: this.#repeated,
      redact: (text) => this.#redactor.text(text),
    }
  }

  #select(index: number, isFollowing = false): void {
    const last = listLength(this.#lists()) - 1
    this.#selected = Math.max(0, Math.min(index, last))
    this.#isFollowing = isFollowing || this.#selected === last
    this.#detailTop = 0
  }

  #say(text: string, style: MonitorState['status']['style'] = 'cyan'): void {
    this.#status = { text: this.#redactor.text(text), style }
  }

  #onKey(key: Key): void {
    if (key === 'ctrl+c') return this.#leave(130)
    if (this.#prompt !== undefined) return this.#typeInto(this.#prompt, key)
    this.#status = { text: '', style: 'dim' }
    if (key !== '?') this.#isHelpShown = false
    this.#keys[key]?.()
  }

  readonly #keys: Readonly<Record<Key, () => void>> = {
    up: () => this.#select(this.#selected - 1),
    k: () => this.#select(this.#selected - 1),
    down: () => this.#select(this.#selected + 1),
    j: () => this.#select(this.#selected + 1),
    home: () => this.#select(0),
    g: () => this.#select(0),
    end: () => this.#select(listLength(this.#lists()) - 1, true),
    G: () => this.#select(listLength(this.#lists()) - 1, true),
    'page-up': () => void (this.#detailTop = Math.max(0, this.#detailTop - PAGE_LINES)),
    'page-down': () => void (this.#detailTop += PAGE_LINES),
    '?': () => void (this.#isHelpShown = !this.#isHelpShown),
    q: () => this.#leave(0),
    '/': () => this.#ask('filter: ', this.#viewFilter?.text ?? '', (text) => this.#setViewFilter(text)),
    i: () =>
      this.#ask(
        'hold messages that match: ',
        this.#interceptFilter,
        (text) => void this.#command('filter', { filter: text }),
      ),
    f: () => this.#decide('forward'),
    F: () => {
      for (const key of this.#held.keys()) void this.#command('forward', { key })
    },
    d: () => this.#decide('drop'),
    '+': () => this.#decide('extend', { by: '60s' }),
    e: () => void this.#edit(),
    a: () => void this.#answer(),
    r: () => void this.#repeat(),
  }

  #ask(label: string, text: string, onDone: (text: string) => void): void {
    this.#prompt = { label, text, onDone }
  }

  #typeInto(prompt: { label: string; text: string; onDone: (text: string) => void }, key: Key): void {
    if (key === 'escape') this.#prompt = undefined
    else if (key === 'backspace') prompt.text = prompt.text.slice(0, -1)
    else if (key === 'ctrl+u') prompt.text = ''
    else if (key === 'enter') {
      this.#prompt = undefined
      prompt.onDone(prompt.text)
    } else if (/^\P{Cc}$/u.test(key)) prompt.text += key
  }

  #setViewFilter(text: string): void {
    try {
      this.#viewFilter = text.trim() === '' ? undefined : parseFilter(text)
      this.#applyFilter()
    } catch (error) {
      this.#say(errorMessage(error), 'red')
    }
  }

  get #selectedHeld(): HeldRow | undefined {
    return this.#lists().held[this.#selected]
  }

  #decide(command: string, args: JsonObject = {}): void {
    const row = this.#selectedHeld
    if (row === undefined) return this.#say('no held message is selected', 'yellow')
    void this.#command(command, { key: row.facts.key, ...args })
  }

  async #command(name: string, args: JsonObject): Promise<void> {
    if (this.#control === undefined) return this.#say('the recording cannot be controlled', 'yellow')
    try {
      await this.#control.request(name, args)
    } catch (error) {
      this.#say(errorMessage(error), 'red')
    }
    this.#terminal?.redraw()
  }

  async #edit(): Promise<void> {
    const row = this.#selectedHeld
    if (row === undefined) return this.#say('no held message is selected', 'yellow')
    const { key, text } = row.facts
    const edited = await this.#openEditor(indentJson(text))
    if (edited !== undefined) await this.#command('edit', { key, text: edited })
  }

  async #answer(): Promise<void> {
    const row = this.#selectedHeld
    if (row?.facts.kind !== 'request') return this.#say('no held request is selected', 'yellow')
    const edited = await this.#openEditor(ANSWER_TEMPLATE)
    if (edited === undefined) return
    const payload = answerIn(edited)
    if (payload === undefined)
      return this.#say('an answer needs "result", or "error" with "code" and "message"', 'red')
    await this.#command('answer', { key: row.facts.key, ...payload })
  }

  async #repeat(): Promise<void> {
    const exchange = this.#exchanges[this.#selected - this.#held.size]
    if (exchange === undefined) return this.#say('no exchange is selected', 'yellow')
    await this.#command('repeat', { exchange: exchange.sequence })
  }

  /** Returns `undefined` if the user left the editor with an error, or changed nothing but blanked the file. */
  async #openEditor(text: string): Promise<string | undefined> {
    if (this.#isBusy || this.#terminal === undefined) return undefined
    this.#isBusy = true
    const folder = mkdtempSync(join(tmpdir(), 'reelay-edit-')) // a new folder has mode 0700
    const file = join(folder, 'message.json')
    const remove = (): void => rmSync(folder, { recursive: true, force: true })
    process.on('exit', remove)
    try {
      writeFileSync(file, `${text}\n`, { mode: 0o600 })
      const code = await this.#terminal.lend(`${editorCommand()} ${quoteShellWord(file)}`)
      if (code === 0) return readFileSync(file, 'utf8')
      this.#say(`the editor ended with code ${code}: nothing was sent`, 'yellow')
      return undefined
    } finally {
      remove()
      process.off('exit', remove)
      this.#isBusy = false
    }
  }
}

const PAGE_LINES = 8
const ANSWER_TEMPLATE = indentJson('{"result":{"content":[{"type":"text","text":""}]}}')

function answerIn(text: string): ResponsePayload | undefined {
  const value = parseJson(text)
  if (!isObject(value)) return undefined
  const error = parseRpcError(value['error'])
  if (error !== undefined) return { error }
  return Object.hasOwn(value, 'result') ? { result: value['result'] } : undefined
}

function editorCommand(): string {
  const { VISUAL, EDITOR } = process.env
  return VISUAL || EDITOR || (process.platform === 'win32' ? 'notepad' : 'vi')
}
