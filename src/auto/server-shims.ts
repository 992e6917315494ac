import { spawn } from 'node:child_process'
import { existsSync, fstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { delimiter, join } from 'node:path'
import { errorMessage } from '../errors.ts'
import { isObject, parseJson } from '../json/parse.ts'
import type { Recording } from '../record/recording.ts'
import type { StdioRecorder } from '../record/stdio/stdio-recorder.ts'
import { serverName, stdioServer } from '../record/tape-header.ts'
import type { ServerFilter } from '../tape/server-filter.ts'
import type { PlayedServers } from './replay-servers.ts'
import type { ServerNames, TapeSet } from './server-lookup.ts'
import { RECORDED_VARIABLE, SHIMS_VARIABLE } from './switches.ts'

/*
 * A program in any language starts its stdio servers by a name such as `npx`, which is looked up on the PATH. `reelay run` puts
 * a folder of scripts in front of the PATH, one for each such name. A script that is to be recorded or played runs
 * `relayServer`, which connects to a socket of `reelay run`. There the bytes are recorded, or the tape is played.
 *
 * Python programs often start a server by a path, such as `sys.executable`. For them, a module that Python loads at its start
 * puts one more script in front of the command.
 */

/** The variables with which a script starts `relayServer`. */
const SOCKET_VARIABLE = 'REELAY_RUN_SOCKET'
const PROGRAM_VARIABLE = 'REELAY_RUN_PROGRAM'
const OPTIONS_VARIABLE = 'REELAY_RUN_NODE_OPTIONS'
/** The process id of the relay in which a process runs, so that the parts of one server are not taken for several. */
const PARENT_VARIABLE = 'REELAY_RUN_PARENT'

/** A folder of scripts, and the socket that they talk to. */
export interface ServerShims {
  /** Variables for the program. */
  readonly env: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

interface ShimOptions {
  readonly folder: string
  /** The command that starts Reelay. */
  readonly reelay: readonly string[]
  readonly isMeant: ServerFilter
}

interface RecordShimOptions extends ShimOptions {
  readonly recording: Recording
  readonly names: ServerNames
}

/** Records the servers that a program starts by a name that is often used for that. Returns `undefined` on Windows. */
export async function recordStartedServers(options: RecordShimOptions): Promise<ServerShims | undefined> {
  if (process.platform === 'win32') return undefined
  const test = `if [ -z "$${RECORDED_VARIABLE}$NODE_CHANNEL_FD" ] && ${HAS_PIPES} && [ "$(ls -diL /dev/stdin 2>/dev/null | tr -dc 0-9)" != "${ownInput()}" ]; then`
  const scripts = new Map([...launchers()].map((program) => [program, [test]]))
  const servers = new Set<number>()
  const shims = { scripts, pathTests: [test] }
  return openShims(options, shims, (socket, start) => recordServer(socket, start, { ...options, servers }))
}

/** Programs that start servers, and servers that are installed as programs. */
const LAUNCHERS = /^(node|npx|bunx?|deno|python[\d.]*|uvx?|pipx|docker|podman|java|dotnet|ruby|php)$|mcp/i
/** Both ends of a server are pipes, or sockets, which some runtimes use instead. A worker of Node has a third one. */
const HAS_PIPES =
  '{ [ -p /dev/stdin ] || [ -S /dev/stdin ]; } && { [ -p /dev/stdout ] || [ -S /dev/stdout ]; }'

function launchers(): ReadonlySet<string> {
  const names = pathFolders().flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []))
  return new Set(names.filter((name) => LAUNCHERS.test(name)))
}

/** A program that has the same input as Reelay itself is not a server, but a part of the command. */
function ownInput(): string {
  try {
    return String(fstatSync(0).ino)
  } catch {
    return '' // it is closed
  }
}

interface PlayShimOptions extends ShimOptions {
  readonly tapes: TapeSet
  readonly played: PlayedServers
}

/** Plays the servers of the tapes that a program starts by the recorded command. Returns `undefined` if there are none. */
export async function playStartedServers(options: PlayShimOptions): Promise<ServerShims | undefined> {
  if (process.platform === 'win32') return undefined
  const scripts = new Map<string, string[]>()
  const pathTests: string[] = []
  const recordedPaths: string[] = []
  for (const { server, info } of await options.tapes.servers()) {
    const [program, ...args] = info.command ?? []
    if (program === undefined || !options.isMeant(server)) continue
    const isPath = program.includes('/')
    const tests = args.map((arg, at) => ` && [ "\${${at + 1}}" = ${quoted(arg)} ]`)
    const isProgram = isPath ? ` && [ "$program" = ${quoted(program)} ]` : ''
    const test = `if [ $# -eq ${args.length} ]${tests.join('')}${isProgram}; then`
    if (isPath) recordedPaths.push(program)
    if (isPath) pathTests.push(test)
    else scripts.set(program, [...(scripts.get(program) ?? []), test])
  }
  const { played } = options
  return openShims(
    options,
    { scripts, pathTests, recordedPaths },
    (socket, start) => void playServer(socket, start, played),
  )
}

/** For each script, the lines that decide whether a start of its program is relayed. */
interface ShimTests {
  /** By the name of the program. */
  readonly scripts: ReadonlyMap<string, readonly string[]>
  /** For programs that are started by a path, which is in `$program`. */
  readonly pathTests: readonly string[]
  /** The paths of the programs on the tape, which need not exist. */
  readonly recordedPaths?: readonly string[]
}

/** What a relay says of the server that it stands for. */
interface RelayStart {
  readonly pid: number
  /** The relay in which it runs, if any. */
  readonly parent?: number
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

async function openShims(
  { folder, reelay }: ShimOptions,
  { scripts, pathTests, recordedPaths = [] }: ShimTests,
  onServer: (socket: Socket, start: RelayStart) => void,
): Promise<ServerShims | undefined> {
  const found = [...scripts].filter(([program]) => findProgram(program) !== undefined)
  if (found.length + pathTests.length === 0) return undefined
  const bin = join(folder, 'bin')
  const address = join(folder, 'socket')
  const relay = { address, reelay }
  mkdirSync(bin)
  for (const [program, tests] of found) {
    const shim = { ...relay, tests, program: quoted(program), real: quoted(findProgram(program) ?? '') }
    writeScript(join(bin, program), shimLines(shim))
  }
  const close = await listen(address, onServer)
  return {
    env: {
      PATH: [bin, ...pathFolders()].join(delimiter),
      ...(pathTests.length > 0 && pythonShims({ ...relay, tests: pathTests, folder, recordedPaths })),
      [SHIMS_VARIABLE]: '1',
    },
    close,
  }
}

interface Shim {
  readonly address: string
  readonly reelay: readonly string[]
  readonly tests: readonly string[]
  /** The program as it was started, and the one to start. Both are shell words. */
  readonly program: string
  readonly real: string
}

function shimLines({ address, reelay, tests, program, real }: Shim): readonly string[] {
  const { REELAY_HOME: home } = process.env
  const variables = [
    `${SOCKET_VARIABLE}=${quoted(address)}`,
    `${PROGRAM_VARIABLE}=${real}`,
    `${OPTIONS_VARIABLE}="$NODE_OPTIONS"`,
    'NODE_OPTIONS=',
    ...(home === undefined ? [] : [`REELAY_HOME=${quoted(home)}`]), // clients do not pass it on
  ]
  const relay = `${variables.join(' ')} exec ${reelay.map(quoted).join(' ')} run -- ${program} "$@"; fi`
  return [...tests.map((test) => `${test} ${relay}`), `exec ${real} "$@"`]
}

function writeScript(path: string, lines: readonly string[]): void {
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o700 })
}

interface PythonShims extends Omit<Shim, 'program' | 'real'> {
  readonly folder: string
  readonly recordedPaths: readonly string[]
}

/** Writes the script for programs that are started by a path, and the module with which Python programs use it. */
function pythonShims({ folder, recordedPaths, ...relay }: PythonShims): Readonly<Record<string, string>> {
  const [script, modules] = [join(folder, 'relay'), join(folder, 'python')]
  const shim = { ...relay, program: '"$program"', real: '"$program"' }
  writeScript(script, ['program=$1; shift', ...shimLines(shim)])
  mkdirSync(modules)
  writeFileSync(join(modules, 'sitecustomize.py'), pythonModule(script, recordedPaths))
  const { PYTHONPATH: own = '' } = process.env
  return { PYTHONPATH: [modules, ...(own === '' ? [] : [own])].join(delimiter) }
}

/**
 * A module that Python loads before the program. It hides itself, and loads the module of the same name that it hides. A program
 * that does not exist is left to Python, which raises the error that the client expects.
 */
function pythonModule(script: string, recorded: readonly string[]): string {
  return `import importlib.machinery, importlib.util, os, subprocess, sys

def _relay_servers(relay, recorded, start):
    def is_server(args, named):
        if not isinstance(args, (list, tuple)) or len(args) == 0 or not isinstance(args[0], str) or '/' not in args[0]:
            return False
        if any(named.get(each) for each in ('executable', 'shell', 'pass_fds')) or None in (named.get('stdin'), named.get('stdout')):
            return False
        return args[0] in recorded or os.access(os.path.join(named.get('cwd') or '', args[0]), os.X_OK)
    def __init__(self, args, *rest, **named):
        start(self, [relay, *args] if not rest and is_server(args, named) else args, *rest, **named)
    return __init__

subprocess.Popen.__init__ = _relay_servers(${JSON.stringify(script)}, ${JSON.stringify(recorded)}, subprocess.Popen.__init__)
_folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [each for each in sys.path if os.path.abspath(each) != _folder]
_spec = importlib.machinery.PathFinder.find_spec(__name__, sys.path)
if _spec is not None and _spec.loader is not None:
    sys.modules[__name__] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[__name__])
`
}

/** Listens for relays. Returns the function that waits for the last of them, and stops listening. */
async function listen(
  address: string,
  onServer: (socket: Socket, start: RelayStart) => void,
): Promise<() => Promise<void>> {
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {}) // the relay is gone
    readHead(socket, (head) => onServer(socket, head as RelayStart))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, resolve)
  })
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    const patience = setTimeout(() => open.forEach((socket) => socket.destroy()), SERVER_END_MS)
    await closed
    clearTimeout(patience)
  }
}

/** Servers that outlive their program are not waited for any longer. */
const SERVER_END_MS = 5000

/** Reads the first line, and leaves the rest to others. */
function readHead(socket: Socket, then: (head: unknown) => void): void {
  let before = Buffer.alloc(0)
  const look = (chunk: Buffer): void => {
    before = Buffer.concat([before, chunk])
    const end = before.indexOf('\n')
    if (end < 0) return
    socket.off('data', look).pause()
    const rest = before.subarray(end + 1)
    if (rest.length > 0) socket.unshift(rest)
    then(parseJson(before.toString('utf8', 0, end)))
  }
  socket.on('data', look)
}

/** The answer to the first line of a relay. */
const [RECORD, PLAY] = ['R', 'P']

async function playServer(socket: Socket, { command }: RelayStart, played: PlayedServers): Promise<void> {
  try {
    const play = await played.start(command)()
    socket.write(PLAY)
    await play({ input: socket, output: socket, signal: new AbortController().signal })
  } catch (error) {
    process.stderr.write(`reelay: ${errorMessage(error)}\n`)
  }
  socket.end()
}

interface RecordContext extends RecordShimOptions {
  /** The process ids of relays whose processes are servers. */
  readonly servers: Set<number>
}

/** Records what a relay copies to us, if it turns out to be an MCP server. */
function recordServer(socket: Socket, start: RelayStart, context: RecordContext): void {
  const { recording, names, isMeant, servers } = context
  const waiting: Part[] = []
  let input = Buffer.alloc(0)
  let record: ((part: Part) => void) | undefined
  const decide = (): void => {
    const isServer = isMessage(input) && (start.parent === undefined || !servers.has(start.parent))
    if (isServer) servers.add(start.pid)
    const server = names.nameOf(start.command, serverName(start.command))
    const info = stdioServer(start.command, start.env)
    record =
      isServer && isMeant(server)
        ? partRecorder(recording.pipes({ server, info, env: start.env }), start.pid)
        : () => {}
    for (const part of waiting.splice(0)) record(part)
  }
  const take = (part: Part): void => {
    if (record !== undefined) return record(part)
    waiting.push(part)
    if (part.kind === 'c2s') input = Buffer.concat([input, part.bytes])
    if (input.includes('\n') || input.length > MAX_UNDECIDED_BYTES) decide()
  }
  socket.write(RECORD)
  readParts(socket, take)
}

const MAX_UNDECIDED_BYTES = 1024 * 1024

function isMessage(input: Buffer): boolean {
  const line = input.toString('utf8').split('\n', 1)[0] ?? ''
  const message = parseJson(line)
  return isObject(message) && message['jsonrpc'] === '2.0' && typeof message['method'] === 'string'
}

function partRecorder(tape: StdioRecorder, pid: number): (part: Part) => void {
  const directions = { c2s: tape.recordDirection('c2s'), s2c: tape.recordDirection('s2c') }
  tape.event('start', { pid })
  return ({ kind, bytes }) => {
    if (kind === 'c2s' || kind === 's2c') return directions[kind].pass(bytes, () => {})
    if (kind === 'eof') {
      directions.c2s.end()
      return tape.event('eof', { dir: 'c2s' })
    }
    directions.s2c.end()
    const details = parseJson(bytes.toString())
    tape.event('exit', isObject(details) ? details : {})
  }
}

/** A part of what passes through a relay: bytes in one direction, the end of the input, or the exit code. */
interface Part {
  readonly kind: (typeof PART_KINDS)[number]
  readonly bytes: Buffer
}

const PART_KINDS = ['c2s', 's2c', 'eof', 'exit'] as const
const PART_HEAD = 5

function encodePart({ kind, bytes }: Part): Buffer {
  const head = Buffer.alloc(PART_HEAD)
  head.writeUInt8(PART_KINDS.indexOf(kind))
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

function readParts(socket: Socket, onPart: (part: Part) => void): void {
  let left: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    left = left.length === 0 ? chunk : Buffer.concat([left, chunk])
    while (left.length >= PART_HEAD) {
      const end = PART_HEAD + left.readUInt32BE(1)
      if (left.length < end) return
      onPart({ kind: PART_KINDS[left.readUInt8()] ?? 'eof', bytes: left.subarray(PART_HEAD, end) })
      left = left.subarray(end)
    }
  })
  socket.resume()
}

/** Returns true if this process was started by a script of `reelay run`. */
export function isRelay(env: NodeJS.ProcessEnv): boolean {
  return env[SOCKET_VARIABLE] !== undefined
}

/** Stands for a server: starts it and copies what passes to `reelay run`, or lets `reelay run` play it. Ends this process. */
export function relayServer([program, ...args]: readonly [string, ...string[]]): void {
  const { [SOCKET_VARIABLE]: address = '', [PROGRAM_VARIABLE]: real = program, ...rest } = process.env
  const { [OPTIONS_VARIABLE]: nodeOptions, [PARENT_VARIABLE]: parent, ...plain } = rest
  const env = { ...plain, NODE_OPTIONS: nodeOptions || undefined }
  const socket = connect(address)
  const start = (): void => {
    socket.removeAllListeners().on('error', () => {}) // the session goes on without a tape
    startServer([real, ...args], { env: { ...env, [PARENT_VARIABLE]: String(process.pid) }, socket })
  }
  socket.once('error', start)
  socket.once('connect', () => {
    const head: RelayStart = {
      pid: process.pid,
      ...(parent !== undefined && { parent: Number(parent) }),
      command: [program, ...args],
      env,
    }
    socket.write(`${JSON.stringify(head)}\n`)
  })
  socket.once('data', (answer: Buffer) => {
    if (answer.toString('latin1', 0, 1) === RECORD) return start()
    socket.removeAllListeners('end').pause()
    if (answer.length > 1) socket.unshift(answer.subarray(1))
    process.stdin.pipe(socket).pipe(process.stdout)
    socket.on('end', () => process.exit(0)) // the client may keep its end open
  })
  socket.once('end', () => process.exit(1)) // it cannot be played, and `reelay run` has said why
}

interface StartedServer {
  readonly env: NodeJS.ProcessEnv
  readonly socket: Socket
}

function startServer([file, ...args]: readonly [string, ...string[]], { env, socket }: StartedServer): void {
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const copy = (kind: Part['kind'], bytes: Buffer = Buffer.alloc(0)): boolean =>
    socket.writable ? socket.write(encodePart({ kind, bytes })) : true
  for (const signal of FORWARDED_SIGNALS)
    process.on(signal, () => child.pid !== undefined && child.kill(signal))
  // Each part is copied before it goes on, so that a request is on the tape before its response.
  process.stdin.on('data', (chunk: Buffer) => void copy('c2s', chunk))
  process.stdin.on('end', () => void copy('eof'))
  child.stdout.on('data', (chunk: Buffer) => void copy('s2c', chunk))
  process.stdin.pipe(child.stdin)
  child.stdout.pipe(process.stdout)
  for (const stream of [child.stdin, process.stdout]) stream.on('error', () => {}) // that end is gone
  child.on('error', (error) => {
    process.stderr.write(`reelay: ${file}: ${error.message}\n`)
    process.exitCode = 127
    socket.end()
  })
  child.on('close', (code, signal) => {
    copy('exit', Buffer.from(JSON.stringify(signal === null ? { code } : { signal })))
    const leave = (): void => {
      if (signal === null) process.exit(code ?? 0)
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    }
    if (socket.writable) socket.end(leave)
    else leave()
  })
}

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function pathFolders(): readonly string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
}

export function findProgram(name: string): string | undefined {
  return pathFolders()
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
