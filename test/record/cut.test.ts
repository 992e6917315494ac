import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { inspectTape } from '../../src/report/inspect/inspect.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { ServeProcess } from '../serve/serve-process.ts'
import { ask, httpServer, post, startRecorder } from '../support/http.ts'
import { fixtureServer, linesOf, record } from '../support/recorder.ts'

const LONG = `é${'x'.repeat(5000)}`
const REQUEST = '{"jsonrpc":"2.0","id":7,"method":"big"}'
const ANSWER = `{"result":{"text":"${LONG}"},"jsonrpc":"2.0","id":7}`

test('messages are recorded completely by default, however long they are', async () => {
  const run = record(fixtureServer('echo-bytes'))
  run.child.stdin.end(`${REQUEST}\n${ANSWER}\n`)
  await run.exited
  expect(linesOf(run.tape).filter((line) => 'cut' in line)).toEqual([])
})

test('--cut keeps the beginning of a long message and its id; the client gets all of it', async () => {
  const run = record(fixtureServer('echo-bytes'), { options: ['--cut', '1'] })
  run.child.stdin.end(`${REQUEST}\n${ANSWER}\n`)
  await run.exited
  expect(run.stdout().toString()).toBe(`${REQUEST}\n${ANSWER}\n`)
  const cut = linesOf(run.tape).find(({ dir, cut: mark }) => dir === 's2c' && mark !== undefined)
  expect(cut).toMatchObject({
    cut: { bytes: Buffer.byteLength(ANSWER), id: 7 },
    raw: Buffer.from(ANSWER).subarray(0, 1024).toString(),
    why: `cut: 1024 of ${Buffer.byteLength(ANSWER)} bytes are kept`,
  })
  const { exchanges } = inspectTape(await loadTape(run.tape))
  expect(exchanges.map(({ outcome }) => outcome)).toEqual([{ kind: 'cut' }])
})

test('a response that was cut is never served: the miss says why', async () => {
  const server = await httpServer(async (req, res) => {
    await text(req)
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.end(`event: message\ndata: ${ANSWER}\n\n`)
  })
  const run = await startRecorder(`${server.origin}/mcp`, '--cut', '1')
  expect((await ask(run.url, post(REQUEST))).body.toString()).toContain(ANSWER)
  run.child.kill('SIGTERM')
  await run.exited
  const served = new ServeProcess([run.tape])
  served.say({ id: 1, method: 'big' })
  const { lines, stderr, code } = await served.end()
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: 1, error: { data: { reason: 'UNANSWERED' } } })
  expect(stderr).toMatch(/only the beginning of the response was kept: record it again without --cut/)
  expect(code).toBe(1)
})
