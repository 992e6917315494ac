// Kills the user, the client, the recorder or the server at random moments while `record --intercept` holds messages, and checks that
// no process and no held message is left, that every call gets its response or an error, and that the tape says what happened.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { root } from '../run.mjs'

const REELAY = join(root, 'dist', 'cli', 'main.js')
const SERVER = join(root, 'scripts', 'attack', 'marking-server.mjs')
const CLIENT = join(root, 'scripts', 'attack', 'calling-client.mjs')
const DOORS = ['stdio', 'url', 'forward', 'bridge']
const VICTIMS = ['user', 'terminal', 'client', 'recorder', 'server']
const SIGNALS = ['SIGKILL', 'SIGTERM']
const ROUNDS = 5
/** Long enough for a loaded machine. */
const DEADLINE_MS = 40_000
const HOLD_LIMIT_MS = 1500

/** `--only` selects doors and victims by a text, such as `stdio, user`. */
export async function run({ only = '', kills = ROUNDS } = {}) {
  console.log('kills while messages are held\n')
  console.log(
    row('door, victim, signal', ['kills', 'calls', 'answered', 'errors', 'dropped', 'decisions', 'problems']),
  )
  let failures = 0
  for (const door of DOORS)
    for (const victim of VICTIMS)
      for (const signal of SIGNALS) {
        const name = `${door}, ${victim}, ${signal}`
        if (!name.includes(only)) continue
        const counts = await interceptKills({ door, victim, signal, rounds: kills })
        failures += counts.problems.length
        const { calls, answered, errors, dropped, decisions, problems } = counts
        console.log(row(name, [kills, calls, answered, errors, dropped, decisions, problems.length]))
        for (const problem of problems.slice(0, 3)) console.log('   ', problem)
      }
  return failures
}

function row(name, cells) {
  return name.padEnd(28) + cells.map((cell) => String(cell).padStart(10)).join('')
}

/** Kills one side again and again, each time at another moment. */
export async function interceptKills({ door, victim, signal, rounds }) {
  const counts = { calls: 0, answered: 0, errors: 0, dropped: 0, decisions: 0, problems: [] }
  for (let round = 0; round < rounds; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'reelay-hold-'))
    const session = new Session({ door, folder })
    try {
      await session.start(victim)
      const moment = Math.random() * 700
      await sleep(moment)
      const problems = await session.kill(victim, signal)
      for (const problem of problems) counts.problems.push(`${Math.round(moment)} ms: ${problem}`)
      for (const name of ['calls', 'answered', 'errors', 'dropped', 'decisions'])
        counts[name] += session[name]
    } catch (error) {
      counts.problems.push(`the round failed: ${error.stack}`)
    } finally {
      session.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  return counts
}

/** A client, a recorder that holds messages, a server, and a user who decides at random. */
class Session {
  lines = []
  decisions = 0
  #door
  #folder
  #env
  #client
  #user
  #isAttached = false
  #recorder
  #recorderPid
  #server
  #serverPid
  #tmux

  constructor({ door, folder }) {
    this.#door = door
    this.#folder = folder
    this.#env = { ...process.env, REELAY_HOME: join(folder, 'home') }
  }

  get #tape() {
    return join(this.#folder, 'session.tape.jsonl')
  }

  get calls() {
    return this.lines.filter(({ sent }) => sent !== undefined).length
  }

  get answered() {
    return this.lines.filter(({ got }) => got !== undefined).length
  }

  get errors() {
    return this.lines.filter(({ failed, why }) => failed !== undefined && why !== 'no response').length
  }

  get dropped() {
    return this.lines.filter(({ why }) => why === 'no response').length
  }

  async start(victim) {
    const filter = Math.random() < 0.3 ? 'tool:held or method:notifications/message' : 'tool:held'
    const limit = Math.random() < 0.3 ? ['--on-limit', 'error'] : []
    const hold = ['--intercept', filter, '--hold-limit', `${HOLD_LIMIT_MS}ms`, ...limit]
    const record = [process.execPath, REELAY, 'record', '-q', '-o', this.#tape, ...hold]
    if (this.#door === 'stdio') this.#startClient({ command: [...record, '--', process.execPath, SERVER] })
    else {
      const port = await this.#startServer()
      const url = `http://127.0.0.1:${port}/mcp`
      if (this.#door === 'bridge') this.#startClient({ command: [...record, '--bridge', '--url', url] })
      else this.#startClient({ target: await this.#startProxy(record, url) })
    }
    await this.#until(() => this.#socketFile() !== undefined, 'the control socket')
    await this.#until(() => this.calls > 0, 'a call')
    if (victim === 'terminal') return this.#startTerminal()
    this.#startUser()
    // Without waiting, nothing would be decided on a busy machine. The session may be over before the user comes.
    const isOver = () => this.lines.some(({ done, closed }) => done || closed)
    if (Math.random() < 0.8) await this.#until(() => this.#isAttached || isOver(), 'the user')
  }

  /** Kills one side. Returns what is wrong afterwards. */
  async kill(victim, signal) {
    const problems = []
    const check = async (what, test) => {
      if (!(await becomes(test))) problems.push(what)
    }
    const { pid } = this.#processOf(victim)
    kill(pid, signal)
    await check(`the ${victim} does not end`, () => !isAlive(pid))
    if (victim === 'client' && this.#recorder !== undefined) await this.#isNothingHeld(problems)
    if (victim !== 'client') {
      await check('the client waits', () => this.lines.some(({ done, closed }) => done || closed))
      if (this.calls !== this.answered + this.errors + this.dropped) problems.push('calls have no end')
    }
    this.#client.kill('SIGTERM')
    await check('the client does not end', () => !isAlive(this.#client.pid))
    if (this.#recorder !== undefined && victim !== 'recorder') kill(this.#recorder.pid, 'SIGTERM')
    await check('the recorder does not end', () => !isAlive(this.#recorderPid))
    if (this.#door === 'stdio') {
      this.#serverPid ??= pidOnTape(this.#tape)
      await check('the server does not end', () => !isAlive(this.#serverPid))
    }
    if (this.#user !== undefined) await check('the user does not end', () => !isAlive(this.#user.pid))
    const isCut = victim === 'recorder' && signal === 'SIGKILL'
    if (!isCut && this.#socketFile() !== undefined) problems.push('the control socket is left')
    problems.push(...(await this.#tapeProblems(isCut)))
    return problems
  }

  close() {
    for (const child of [this.#user, this.#client, this.#recorder, this.#server]) child?.kill('SIGKILL')
    if (this.#recorderPid !== undefined) kill(this.#recorderPid, 'SIGKILL')
    if (this.#tmux !== undefined) spawnSync('tmux', ['-L', this.#tmux, 'kill-server'])
  }

  #startClient(order) {
    this.#client = spawn(process.execPath, [CLIENT, JSON.stringify(order)], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    createInterface({ input: this.#client.stdout }).on('line', (text) => {
      const line = JSON.parse(text)
      this.lines.push(line)
      if (line.recorder !== undefined) this.#recorderPid = line.recorder
    })
  }

  async #startServer() {
    this.#server = spawn(process.execPath, [SERVER, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [chunk] = await once(this.#server.stdout, 'data')
    return Number(chunk)
  }

  /** Returns where the client of a recorder over HTTP sends its requests. */
  async #startProxy(record, url) {
    const listen = this.#door === 'url' ? ['--url', url] : ['--forward', '--listen', '127.0.0.1:0']
    const [file, ...args] = [...record.filter((word) => word !== '-q'), ...listen]
    this.#recorder = spawn(file, args, { env: this.#env, stdio: ['ignore', 'ignore', 'pipe'] })
    this.#recorderPid = this.#recorder.pid
    let said = ''
    this.#recorder.stderr.on('data', (chunk) => (said += chunk))
    const pattern = this.#door === 'url' ? /client: (http\S+)/ : /HTTP_PROXY=(\S+)/i
    await this.#until(() => pattern.test(said), 'the address of the recorder')
    const { hostname, port, pathname, username, password } = new URL(pattern.exec(said)[1])
    if (this.#door === 'url') return { host: hostname, port, path: pathname }
    const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
    const access = username === '' ? {} : { 'Proxy-Authorization': `Basic ${login.toString('base64')}` }
    return { host: hostname, port, path: url, headers: { Host: new URL(url).host, ...access } }
  }

  /** A program that decides about everything that is held, after a while, in a random way. Some messages are left to the limit. */
  #startUser() {
    this.#user = spawn(process.execPath, [REELAY, 'intercept', '--json', this.#tape], {
      env: this.#env,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#user.stdin.on('error', () => {})
    createInterface({ input: this.#user.stdout }).on('line', (text) => {
      const { event, message } = JSON.parse(text)
      if (event === 'hello') this.#isAttached = true
      if (event === 'held') void this.#decide(message)
    })
  }

  async #decide({ key, kind, text }) {
    await sleep(Math.random() * 300)
    const commands = [
      { command: 'forward' },
      { command: 'edit', text: text.replace('Oslo', 'Rome').replace('"mark":', '"by":"user","mark":') },
      ...(Math.random() < 0.2 ? [{ command: 'drop' }, undefined] : []),
      ...(kind === 'request' ? [{ command: 'answer', result: { content: [], by: 'user' } }] : []),
    ]
    const command = commands[Math.floor(Math.random() * commands.length)]
    if (command === undefined) return
    this.decisions++
    this.#user.stdin.write(`${JSON.stringify({ id: this.decisions, key, ...command })}\n`)
  }

  /** The terminal UI, with somebody who presses keys. */
  async #startTerminal() {
    this.#tmux = `reelay-kill-${process.pid}-${Math.random().toString(36).slice(2)}`
    const line = `exec '${process.execPath}' '${REELAY}' intercept '${this.#tape}'`
    const env = { ...this.#env, TERM: 'xterm', TMUX: '', EDITOR: 'sed -i s/Oslo/Rome/' }
    const tmux = (...args) => spawnSync('tmux', ['-L', this.#tmux, ...args], { env, encoding: 'utf8' })
    const opened = tmux('-f', '/dev/null', 'new-session', '-d', '-x', '100', '-y', '30', line)
    if (opened.status !== 0) throw new Error(`tmux (Debian: apt-get install tmux): ${opened.stderr}`)
    const pid = Number(tmux('list-panes', '-F', '#{pane_pid}').stdout)
    this.#user = { pid, kill: (signal) => kill(pid, signal) }
    const keys = ['f', 'f', 'e', 'd', '+', 'j', 'k', 'F', '?']
    const press = setInterval(() => {
      if (!isAlive(pid)) return clearInterval(press)
      this.decisions++
      tmux('send-keys', keys[Math.floor(Math.random() * keys.length)])
    }, 60)
    await sleep(250)
  }

  /** With a client that is gone, a user who comes finds nothing that is held. */
  async #isNothingHeld(problems) {
    const { ControlClient } = await built('control', 'control-client.js')
    const before = process.env.REELAY_HOME
    process.env.REELAY_HOME = this.#env.REELAY_HOME
    try {
      const user = await ControlClient.open({ tape: this.#tape, name: 'check', onEvent() {} })
      const isEmpty = await becomes(async () => (await user.request('list')).held.length === 0)
      if (!isEmpty) problems.push('a message of the client that is gone is held')
      user.close()
    } finally {
      process.env.REELAY_HOME = before
    }
  }

  async #tapeProblems(isCut) {
    const problems = []
    const { loadTape } = await built('store', 'file', 'read.js')
    for (const side of ['client', 'server'])
      await loadTape(this.#tape, side).catch((error) =>
        problems.push(`the tape does not open: ${error.message}`),
      )
    const frames = framesOf(this.#tape)
    const arrivals = frames.filter(({ msg, side, of, dir }) => msg && side === senderOf(dir) && !of)
    const decided = new Set(frames.flatMap(({ event, of }) => (event === 'intercept' ? [of] : [])))
    // A response of the user, and what waits behind a notification, are not decided about.
    const undecided = arrivals.filter(({ n, msg }) => !decided.has(n) && msg.method === 'tools/call')
    const delivered = new Set(frames.flatMap(({ msg, of }) => (msg && of ? [of] : [])))
    const lost = undecided.filter(({ n }) => !delivered.has(n))
    if (!isCut && lost.length > 0) problems.push(`nothing says what became of frame ${lost[0].n}`)
    for (const frame of frames) {
      if (frame.of !== undefined && !frames.some(({ n, msg }) => n === frame.of && msg))
        problems.push(`frame ${frame.n} refers to frame ${frame.of}, which is no message`)
      if (frame.modified === true && frame.original_payload === undefined)
        problems.push(`frame ${frame.n} is modified, without the original`)
    }
    const dropped = frames.filter(({ action }) => action === 'drop').length
    if (this.dropped > dropped)
      problems.push(`${this.dropped} calls had no end, and ${dropped} messages were dropped`)
    if (!isCut && frames.at(-1)?.event !== 'end') problems.push('the tape has no end')
    const seen = new Set(frames.filter(({ side }) => side !== 'server').map(({ msg }) => canonical(msg)))
    // The error of a bridge whose server is gone is its own. The tape has an event in its place.
    const isOwn = (text) =>
      text.includes('"by":"reelay"') &&
      frames.some(({ event }) => event === 'unreachable' || event === 'abort')
    const missing = this.lines.filter(
      ({ text }) => text !== undefined && !seen.has(canonical(JSON.parse(text))) && !isOwn(text),
    )
    if (missing.length > 0) problems.push(`the client received ${missing[0].text}, which is not on the tape`)
    return problems
  }

  #processOf(victim) {
    if (victim === 'client') return this.#client
    if (victim === 'recorder') return { pid: this.#recorderPid }
    if (victim === 'user' || victim === 'terminal') return this.#user
    this.#serverPid = pidOnTape(this.#tape)
    return this.#server ?? { pid: this.#serverPid }
  }

  #socketFile() {
    const folder = join(this.#env.REELAY_HOME, 'control')
    return existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.json')) : undefined
  }

  async #until(test, what) {
    if (!(await becomes(test))) throw new Error(`there is no sign of ${what}`)
  }
}

function senderOf(dir) {
  return dir === 'c2s' ? 'client' : 'server'
}

function canonical(value) {
  return JSON.stringify(value)
}

function framesOf(tape) {
  const lines = readFileSync(tape, 'utf8').split('\n').slice(1, -1)
  return lines.map((line) => JSON.parse(line))
}

function pidOnTape(tape) {
  return framesOf(tape).find(({ pid }) => pid !== undefined)?.pid
}

function built(...path) {
  return import(pathToFileURL(join(root, 'dist', ...path)).href)
}

async function becomes(test) {
  for (const end = Date.now() + DEADLINE_MS; Date.now() < end; await sleep(20)) if (await test()) return true
  return false
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended already
  }
}

/** A process that has ended may remain as a zombie, if its parent was killed and nobody has waited for it. */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
