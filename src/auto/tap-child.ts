import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { StdioRecorder } from '../record/stdio/session-recorder.ts'

/** Puts on the tape what crosses the pipes of a child process. Nothing is done to the child: its streams flow, wait and end as ever. */
export function recordChild(child: ChildProcess, tape: StdioRecorder): void {
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
  child.once('error', ({ message }) => tape.event('error', { message }))
  child.once('close', (code, signal) => {
    fromServer.end()
    tape.event('exit', signal === null ? { code } : { signal })
  })
}

type Pass = (chunk: Uint8Array, handOn: () => void) => void

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

/** What `write(chunk, encoding?)` and `end(chunk?, encoding?)` are given. */
function bytesOf([chunk, encoding]: readonly unknown[]): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk) // a copy: its owner may use it again
  if (typeof chunk !== 'string') return undefined
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
}

/** Hears what a stream hands out without making it flow: that is left to whoever reads it. */
function onChunk(stream: Readable | null, hear: (chunk: Buffer) => void): void {
  if (stream === null) return
  const listener = (chunk: Buffer | string): void => hear(Buffer.from(chunk as string))
  EventEmitter.prototype.on.call(stream, 'data', listener)
}
