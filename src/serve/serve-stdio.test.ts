import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { answerOf, call, callOf, client, HANDSHAKE, server, tapeOf } from '../../test/support/tape-of.ts'
import { serveStdio } from './serve-stdio.ts'

test('everything owed is sent before the run ends, though the input ended long before', async () => {
  const params = { name: 'slow', _meta: { progressToken: 1 } }
  const tape = tapeOf(
    client({ id: 1, method: 'tools/call', params }),
    server({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }),
    server(answerOf(1, 'done')),
  )
  const { input, output } = link()
  input.end(`${JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params })}\n`)
  const drift = await serveStdio({ tape, input, output })
  output.end()
  expect(
    (await text(output))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  ).toEqual([undefined, 5])
  expect(drift).toEqual({ answered: 1, leftOver: [], misses: [], notes: [] })
})

test('a client that reads slowly is waited for: what it has not read stays unasked, not in memory', async () => {
  const size = 200_000
  const tape = tapeOf(...Array.from({ length: 100 }, (_, id) => call(id, 'big', {}, 'x'.repeat(size))).flat())
  const reader = new SlowReader()
  const { input } = link()
  const asked = Array.from({ length: 100 }, (_, id) =>
    JSON.stringify({ jsonrpc: '2.0', ...callOf(id, 'big', {}) }),
  )
  input.end(`${asked.join('\n')}\n`)
  expect((await serveStdio({ tape, input, output: reader })).answered).toBe(100)
  expect(reader.lines).toBe(100)
  expect(reader.mostWaiting).toBeLessThan(3 * size)
})

test('a signal ends the run as the end of the input does, in the middle of a line', async () => {
  const { input, output } = link()
  const stop = new AbortController()
  const served = serveStdio({
    tape: tapeOf(...HANDSHAKE, ...call(1, 'a', {}, 'A')),
    input,
    output,
    signal: stop.signal,
  })
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":')
  output.once('data', () => stop.abort())
  expect(await served).toMatchObject({ leftOver: [{ frame: 4 }], notes: [] })
})

test('an input that breaks off is an input that ends', async () => {
  const { input, output } = link()
  const served = serveStdio({ tape: tapeOf(...HANDSHAKE), input, output })
  input.destroy(new Error('EPIPE'))
  expect((await served).notes).toEqual([])
})

test('a path that cannot be read is refused before anything is served', async () => {
  const { input, output } = link()
  const served = serveStdio({ tape: tapeOf(), input, output, ignore: ['params['] })
  await expect(served).rejects.toMatchObject({ code: 'PATH_INVALID' })
})

function link(): { input: PassThrough; output: PassThrough } {
  return { input: new PassThrough(), output: new PassThrough() }
}

/** Takes one chunk a turn of the event loop, and remembers how much lay before it. */
class SlowReader extends Writable {
  lines = 0
  mostWaiting = 0

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    this.mostWaiting = Math.max(this.mostWaiting, this.writableLength)
    setImmediate(() => {
      this.lines += chunk.toString().split('\n').length - 1
      taken()
    })
  }
}
