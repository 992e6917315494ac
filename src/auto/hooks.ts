import childProcess from 'node:child_process'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { parseJson, isObject } from '../json/parse.ts'
import { mcpRequestKind } from '../protocol/headers.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import { createThrowawayRedactor } from '../serve/redaction/report-redactor.ts'
import type { AnyFetch } from '../record/in-process/record-fetch.ts'

/** Called for the MCP servers of a program: those that it starts, and those that it reaches over HTTP. */
export interface ServerHooks {
  readonly onStart: SpawnInterceptor
  readonly onFetch: FetchInterceptor
  /** Called for an MCP server whose client is not recognised, so that its connection stays live. */
  readonly onUnseen?: (server: string) => void
}

/** A server that an SDK is about to start. */
interface ServerStart {
  readonly command: readonly string[]
  readonly options: SpawnOptions
  /** Starts the server with this environment. */
  readonly run: (env: NodeJS.ProcessEnv | undefined) => ChildProcess
}

/** Returns the child process to use. If it returns `undefined`, the server is started normally. */
type SpawnInterceptor = (start: ServerStart) => ChildProcess | undefined

type Spawn = (command: string, ...rest: readonly unknown[]) => ChildProcess

/**
 * Replaces `child_process.spawn`, which both SDKs and the AI SDK use to start a server, from ES modules and from CommonJS. Only
 * calls from their stdio transport are intercepted; every other child process starts normally.
 */
export function hookSpawn({ onStart, onUnseen }: ServerHooks): void {
  const original = childProcess.spawn as unknown as Spawn
  const spawn: Spawn = (command, ...rest) => {
    const plain = (): ChildProcess => original(command, ...rest)
    const [args, options] = rest
    if (!Array.isArray(args) || !hasPipes(options)) return plain()
    if (!isSdkSpawn(callerStack(spawn))) {
      const child = plain()
      if (onUnseen !== undefined) onHandshake(child, () => onUnseen([command, ...args.map(String)].join(' ')))
      return child
    }
    const run = (env: NodeJS.ProcessEnv | undefined): ChildProcess =>
      original(command, args, { ...options, env })
    return onStart({ command: [command, ...args.map(String)], options, run }) ?? plain()
  }
  Object.assign(childProcess, { spawn })
  syncBuiltinESMExports()
}

/** Calls back if the first message to a child process opens an MCP session. */
function onHandshake({ stdin }: ChildProcess, found: () => void): void {
  if (stdin === null) return
  const original = { write: stdin.write.bind(stdin), end: stdin.end.bind(stdin) }
  const first = (name: 'write' | 'end') => {
    return (...args: readonly unknown[]): unknown => {
      Object.assign(stdin, original)
      if (isHandshake(String(args[0]))) found()
      return Reflect.apply(original[name], stdin, args)
    }
  }
  Object.assign(stdin, { write: first('write'), end: first('end') })
}

function isHandshake(text: string): boolean {
  const value = parseJson(text.split('\n', 1)[0] ?? '')
  return isObject(value) && value['jsonrpc'] === '2.0' && isOpeningMethod(String(value['method']))
}

/** Stdin and stdout of an MCP server are pipes. */
function hasPipes(options: unknown): options is SpawnOptions {
  if (typeof options !== 'object' || options === null || !('stdio' in options)) return false
  const { stdio } = options
  return Array.isArray(stdio) && stdio[0] === 'pipe' && stdio[1] === 'pipe'
}

/** An MCP server at a URL. */
interface FetchedEndpoint {
  readonly endpoint: URL
  /** The original `fetch`. */
  readonly fetch: AnyFetch
}

/** Returns the `fetch` to use for a server. It is called once for each server. */
type FetchInterceptor = (endpoint: FetchedEndpoint) => AnyFetch

/**
 * Replaces the global `fetch`, which the HTTP transports of both SDKs call. Only requests to MCP servers are intercepted; every
 * other fetch of the program, including those for tokens, is unchanged.
 */
export function hookFetch({ onFetch, onUnseen }: ServerHooks): void {
  const original = globalThis.fetch
  const servers = new Map<string, AnyFetch>()
  const fetchOf = (url: URL, isMessage: boolean): AnyFetch => {
    const known = servers.get(url.origin + url.pathname) ?? (isMessage ? servers.get(url.origin) : undefined)
    if (known !== undefined) return known
    const replacement = onFetch({ endpoint: new URL(url.origin + url.pathname), fetch: original })
    servers.set(url.origin + url.pathname, replacement)
    if (!isMessage) servers.set(url.origin, replacement) // messages of HTTP+SSE may have another path
    return replacement
  }
  const fetch = (...[input, init]: Parameters<typeof original>): Promise<Response> => {
    if (input instanceof Request || !URL.canParse(String(input))) return original(input, init)
    const kind = classifyFetch(init, isSdkFetch(callerStack(fetch)))
    if (kind !== 'other') return fetchOf(new URL(input), kind === 'sse message')(input, init)
    if (onUnseen !== undefined && typeof init?.body === 'string' && isHandshake(init.body))
      onUnseen(createThrowawayRedactor().url(String(input)))
    return original(input, init)
  }
  Object.assign(globalThis, { fetch })
}

/** Recognizes a fetch to an MCP server. */
export function classifyFetch(
  init: RequestInit | undefined,
  isFromSdk: boolean,
): ReturnType<typeof mcpRequestKind> {
  const headers = headersOf(init)
  const { method = 'GET', body } = init ?? {}
  const header = (name: string): string | undefined => headers?.get(name) ?? undefined
  return mcpRequestKind({ method, header, body: typeof body === 'string' ? body : undefined }, isFromSdk)
}

function headersOf(init: RequestInit | undefined): Headers | undefined {
  try {
    return new Headers(init?.headers)
  } catch {
    return undefined // `fetch` will report what is wrong with them
  }
}

/**
 * Returns true if `spawn` was called by the stdio client transport of an SDK: the nearest caller is in the file of the SDK, or
 * the `start` method of the transport is among the callers. In a bundle, only the name of that method is left.
 */
export function isSdkSpawn(stack: string | undefined): boolean {
  const frames = (stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const callers = frames.filter((line) => !CROSS_SPAWN.test(line))
  const [caller = ''] = callers
  return SDK_FILE.test(caller) || callers.slice(0, NEAREST_CALLERS).some((line) => START.test(line))
}

/** Returns true if a client transport of an SDK is among the callers of `fetch`. Programs often wrap `fetch` in functions of their own. */
export function isSdkFetch(stack: string | undefined): boolean {
  return SDK_CLIENT.test(stack ?? '')
}

/** Returns the stack of a function's callers, even if the program has changed the stack trace limit. */
function callerStack(callee: (...args: never[]) => unknown): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 10
  const trace: { stack?: string } = {}
  Error.captureStackTrace(trace, callee)
  Error.stackTraceLimit = stackTraceLimit
  return trace.stack
}

/** Between `start` and `spawn` there are a promise and the cross-platform helper `cross-spawn`. */
const NEAREST_CALLERS = 5
const CROSS_SPAWN = /[\\/]cross-spawn[\\/]/
const SDK_FILE =
  /[\\/]@modelcontextprotocol[\\/](sdk[\\/]dist[\\/](esm|cjs)[\\/]client|client[\\/]dist)[\\/]stdio\.[cm]?js\b|[\\/]@ai-sdk[\\/]mcp[\\/]dist[\\/]mcp-stdio[\\/]/
const START = /^ {4}at _?Stdio(Client|MCP)Transport\d*\.start\b/
const SDK_CLIENT =
  /[\\/]@modelcontextprotocol[\\/](sdk[\\/]dist[\\/](esm|cjs)[\\/]client|client[\\/]dist)[\\/]|\bSSEClientTransport\b/
