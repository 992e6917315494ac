import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/recorder.ts'

interface Exchange {
  readonly method: string
  readonly params: object
  readonly result: object
}

/** Writes a tape of calls to `fixtures/servers/slow-calls.mjs`, one after the other, that were all answered with "done". */
export function tapeOfWaits(calls: number): string {
  const result = { content: [{ type: 'text', text: 'done' }] }
  const call = (number: number): Exchange => {
    return { method: 'tools/call', params: { name: 'wait', arguments: { number } }, result }
  }
  return tapeOf(Array.from({ length: calls }, (_, at) => call(at + 1)))
}

/** Writes a tape of a client that waits for each answer. */
export function tapeOf(exchanges: readonly Exchange[]): string {
  const tape = join(temporaryFolder(), 'waits.tape.jsonl')
  const said = exchanges.flatMap(({ method, params, result }, at) => [
    { dir: 'c2s', msg: { jsonrpc: '2.0', id: at + 1, method, params } },
    { dir: 's2c', msg: { jsonrpc: '2.0', id: at + 1, result } },
  ])
  const frames = said.map((one, at) => ({ n: at + 1, t: at + 1, server: 'slow', conn: 1, ...one }))
  const n = frames.length + 1
  writeFileSync(tape, [HEADER, ...frames, { n, t: n, event: 'end', frames: n }].map(lineOf).join(''))
  return tape
}

const HEADER = {
  reelay: 1,
  id: 'waits',
  started: '2026-11-15T00:00:00.000Z',
  by: 'test',
  servers: { slow: { transport: 'stdio' } },
  tags: {},
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}
