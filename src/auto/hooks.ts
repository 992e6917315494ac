import childProcess from 'node:child_process'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { parseJson, isObject } from '../json/parse.ts'
import type { AnyFetch } from '../record/in-process/record-fetch.ts'

/** What becomes of the servers of a program: those that it starts, and those that it reaches over HTTP. */
export interface ServerHooks {
  readonly onStart: SpawnInterceptor
  readonly onFetch: FetchInterceptor
}

/** What an SDK wants to start. */
interface ServerStart {
  readonly command: readonly string[]
  readonly options: SpawnOptions
  /** Starts it, with the environment given. */
  readonly run: (env: NodeJS.ProcessEnv | undefined) => ChildProcess
}

/** Stands in for the start of a server; undefined lets it happen as if nobody looked. */
type SpawnInterceptor = (start: ServerStart) => ChildProcess | undefined

type Spawn = (command: string, ...rest: readonly unknown[]) => ChildProcess

/**
 * Both SDKs start a server with `child_process.spawn`, from ES modules and from CommonJS. Only calls that come straight from
 * their stdio transport are looked at; every other child process of the program is started as ever.
 */
export function hookSpawn(onStart: SpawnInterceptor): void {
  const original = childProcess.spawn as unknown as Spawn
  const spawn: Spawn = (command, ...rest) => {
    const plain = (): ChildProcess => original(command, ...rest)
    const [args, options] = rest
    if (!Array.isArray(args) || !hasPipes(options) || !isSdkSpawn(callerStack(spawn))) return plain()
    const run = (env: NodeJS.ProcessEnv | undefined): ChildProcess =>
      original(command, args, { ...options, env })
    return onStart({ command: [command, ...args.map(String)], options, run }) ?? plain()
  }
  Object.assign(childProcess, { spawn })
  syncBuiltinESMExports()
}

/** A server is spoken to over its stdin and stdout. */
function hasPipes(options: unknown): options is SpawnOptions {
  if (typeof options !== 'object' || options === null || !('stdio' in options)) return false
  const { stdio } = options
  return Array.isArray(stdio) && stdio[0] === 'pipe' && stdio[1] === 'pipe'
}

/** A server that is reached over HTTP. */
interface FetchedEndpoint {
  readonly endpoint: URL
  /** Reaches it. */
  readonly fetch: AnyFetch
}

/** Says what is to be used in place of `fetch` for a server; asked once for each. */
type FetchInterceptor = (endpoint: FetchedEndpoint) => AnyFetch

/**
 * The HTTP transports of both SDKs call the global `fetch`. Only what is a request to an MCP server is looked at; every other
 * fetch of the program, those for tokens among them, happens as ever.
 */
export function hookFetch(onFetch: FetchInterceptor): void {
  const original = globalThis.fetch
  const servers = new Map<string, AnyFetch>()
  const fetchOf = (url: URL, isMessage: boolean): AnyFetch => {
    const known = servers.get(url.origin + url.pathname) ?? (isMessage ? servers.get(url.origin) : undefined)
    if (known !== undefined) return known
    const stand = onFetch({ endpoint: new URL(url.origin + url.pathname), fetch: original })
    servers.set(url.origin + url.pathname, stand)
    if (!isMessage) servers.set(url.origin, stand) // where the messages of a legacy SSE stream belong
    return stand
  }
  const fetch = (...[input, init]: Parameters<typeof original>): Promise<Response> => {
    if (input instanceof Request || !URL.canParse(String(input))) return original(input, init)
    const kind = classifyFetch(init, isSdkFetch(callerStack(fetch)))
    return kind === 'other'
      ? original(input, init)
      : fetchOf(new URL(input), kind === 'sse message')(input, init)
  }
  Object.assign(globalThis, { fetch })
}

/**
 * Whether a fetch talks to an MCP server: it has the shape that Streamable HTTP demands, or it comes from an SDK and has that of
 * the legacy SSE transport. Everything else is `other`.
 */
export function classifyFetch(
  init: RequestInit | undefined,
  isFromSdk: boolean,
): 'streamable' | 'sse stream' | 'sse message' | 'other' {
  const headers = headersOf(init)
  const accepted = headers?.get('accept') ?? ''
  const acceptsStream = accepted.includes('text/event-stream')
  const isMcp = ['mcp-session-id', 'mcp-protocol-version'].some((name) => headers?.has(name) === true)
  switch (init?.method ?? 'GET') {
    case 'POST':
      if (!isJsonRpc(init?.body)) return 'other'
      if (acceptsStream && accepted.includes('application/json')) return 'streamable'
      return isFromSdk ? 'sse message' : 'other'
    case 'GET':
      if (!acceptsStream) return 'other'
      return isMcp ? 'streamable' : isFromSdk ? 'sse stream' : 'other'
    case 'DELETE':
      return isMcp ? 'streamable' : 'other'
    default:
      return 'other'
  }
}

function headersOf(init: RequestInit | undefined): Headers | undefined {
  try {
    return new Headers(init?.headers)
  } catch {
    return undefined // fetch itself will say what is wrong with them
  }
}

function isJsonRpc(body: unknown): boolean {
  const value = typeof body === 'string' ? parseJson(body) : undefined
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value]
  return isObject(first) && first['jsonrpc'] === '2.0'
}

/**
 * Whether the callers of `spawn`, nearest first, are those of an SDK's stdio client transport that starts its server:
 * the nearest lies in the SDK's own file, or the `start` method is at work, which is all that a bundle keeps of it.
 */
export function isSdkSpawn(stack: string | undefined): boolean {
  const frames = (stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const callers = frames.filter((line) => !CROSS_SPAWN.test(line))
  const [caller = ''] = callers
  return SDK_FILE.test(caller) || callers.slice(0, NEAREST_CALLERS).some((line) => START.test(line))
}

/** Whether a client transport of an SDK is among the callers of `fetch`; programs like to put functions of their own between. */
export function isSdkFetch(stack: string | undefined): boolean {
  return SDK_CLIENT.test(stack ?? '')
}

/** The call stack below a function, whatever the program has done to the length of stacks. */
function callerStack(callee: (...args: never[]) => unknown): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 10
  const trace: { stack?: string } = {}
  Error.captureStackTrace(trace, callee)
  Error.stackTraceLimit = stackTraceLimit
  return trace.stack
}

/** The promise around the call, and the helper that starts programs on Windows too. */
const NEAREST_CALLERS = 5
const CROSS_SPAWN = /[\\/]cross-spawn[\\/]/
const SDK_FILE =
  /[\\/]@modelcontextprotocol[\\/](sdk[\\/]dist[\\/](esm|cjs)[\\/]client|client[\\/]dist)[\\/]stdio\.[cm]?js\b/
const START = /^ {4}at _?StdioClientTransport\d*\.start\b/
const SDK_CLIENT =
  /[\\/]@modelcontextprotocol[\\/](sdk[\\/]dist[\\/](esm|cjs)[\\/]client|client[\\/]dist)[\\/]|\bSSEClientTransport\b/
