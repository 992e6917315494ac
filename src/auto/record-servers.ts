import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { ServerHooks } from './hooks.ts'
import { ServerNames } from './server-lookup.ts'
import { RECORDED_VARIABLE, SHIMS_VARIABLE, SWITCH_VARIABLES } from './switches.ts'
import { serverNameFromUrl, serverName, stdioServer, labelsFromEnv } from '../record/tape-header.ts'
import { recordFetch } from '../record/in-process/record-fetch.ts'
import { Recording } from '../record/recording.ts'
import type { StdioRecorder } from '../record/stdio/stdio-recorder.ts'
import type { ServerFilter } from '../tape/server-filter.ts'

interface RecordSwitches {
  readonly tape: string
  readonly isMeant: ServerFilter
  readonly vault: string | undefined
}

/** Records every server of this process on one tape. */
export function recordServers({ tape, isMeant, vault }: RecordSwitches): ServerHooks {
  const redact = vault === undefined ? {} : { vault }
  const recording = new Recording({ tape, redact, ...labelsFromEnv(process.env) })
  const names = new ServerNames()
  process.once('exit', () => closeRecording(recording))
  return {
    onStart: ({ command, options, run }) => {
      const server = names.nameOf(command, serverName(command))
      if (!isMeant(server)) return undefined
      const env = withoutSwitches(options.env)
      const child = run(env)
      recordChild(child, recording.pipes({ server, info: stdioServer(command, env ?? process.env), env }))
      return child
    },
    onFetch: ({ endpoint, fetch }) => {
      const server = names.nameOf(endpoint.href, serverNameFromUrl(endpoint))
      return isMeant(server) ? recordFetch(fetch, { recording, server, url: endpoint }) : fetch
    },
  }
}

/** A server may be a client of other servers. Those belong to it, not to this program, and are not recorded. */
function withoutSwitches(env: NodeJS.ProcessEnv | undefined): NodeJS.ProcessEnv | undefined {
  if (env === undefined) return undefined
  const kept = Object.entries(env).filter(([name]) => !SWITCH_VARIABLES.some((each) => each === name))
  const hasShims = process.env[SHIMS_VARIABLE] !== undefined
  return { ...Object.fromEntries(kept), ...(hasShims && { [RECORDED_VARIABLE]: '1' }) }
}

/** Called when the process exits, so everything must happen synchronously. */
function closeRecording(recording: Recording): void {
  void recording.close()
  const { path, failure } = recording
  if (failure !== undefined) printToStderr(`TAPE_UNWRITABLE ${path ?? 'nothing was recorded'}: ${failure}`)
  else if (path !== undefined) printToStderr(`recorded to ${path}`)
}

function printToStderr(text: string): void {
  process.stderr.write(`reelay: ${text}\n`)
}

/** Records the pipes of a child process. The child and the flow of its streams are not changed. */
function recordChild(child: ChildProcess, tape: StdioRecorder): void {
  const toServer = tape.recordDirection('c2s')
  const fromServer = tape.recordDirection('s2c')
  tape.event('start', child.pid === undefined ? {} : { pid: child.pid })
  if (child.stdin !== null) recordInput(child.stdin, toServer.pass)
  onChunk(child.stdout, (chunk) => fromServer.pass(chunk, () => {}))
  onChunk(child.stderr, (chunk) => tape.stderr(chunk))
  child.stdin?.once('finish', () => {
    toServer.end()
    tape.event('eof', { dir: 'c2s' })
  })
  child.once('error', ({ name, message }) => {
    if (name !== 'AbortError') tape.event('error', { message }) // the program ends the server by its signal
  })
  child.once('close', (code, signal) => {
    fromServer.end()
    tape.event('exit', signal === null ? { code } : { signal })
  })
}

type Pass = (chunk: Uint8Array, forward: () => void) => void

function recordInput(input: Writable, pass: Pass): void {
  const write = input.write.bind(input) as (...args: readonly unknown[]) => boolean
  const end = input.end.bind(input) as (...args: readonly unknown[]) => Writable
  const recorded = <Result>(work: (...args: readonly unknown[]) => Result) => {
    return (...args: readonly unknown[]): Result => {
      const bytes = bytesOf(args)
      if (bytes === undefined) return work(...args)
      let result: Result | undefined
      pass(bytes, () => (result = work(...args)))
      return result as Result
    }
  }
  Object.assign(input, { write: recorded(write), end: recorded(end) })
}

/** Returns the bytes in the arguments of `write(chunk, encoding?)` and `end(chunk?, encoding?)`. */
function bytesOf([chunk, encoding]: readonly unknown[]): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk) // a copy, because the caller may reuse the buffer
  if (typeof chunk !== 'string') return undefined
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
}

/** Observes the chunks of a stream without making it flow. */
function onChunk(stream: Readable | null, observe: (chunk: Buffer) => void): void {
  if (stream === null) return
  const listener = (chunk: Buffer | string): void => observe(Buffer.from(chunk as string))
  EventEmitter.prototype.on.call(stream, 'data', listener)
}
