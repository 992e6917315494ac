import { expect, test, vi } from 'vitest'
import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import { commandTarget } from '../../src/replay/targets.ts'
import { called, foundIn, session } from '../support/against-tape.ts'

vi.setConfig({ testTimeout: 60_000 })

/** A server whose tools return the values of these expressions. */
function serverOf(tools: Readonly<Record<string, string>>): readonly [string, ...string[]] {
  const source = `
    const tools = { ${Object.entries(tools)
      .map(([name, value]) => `${name}: () => (${value})`)
      .join()} }
    const serverInfo = { name: 'recorded-server', version: '1' }
    const capabilities = { tools: {}, resources: {}, prompts: {} }
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (id === undefined) return
      const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities, serverInfo }
        : method === 'tools/list' ? { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) }
        : { content: [], structuredContent: tools[params.name]() }
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })`
  return [process.execPath, '-e', source]
}

// Large enough for the recorded value to lie in the range that is learned from it.
const SECONDS = '(5000 + (Math.floor(Date.now() / 1000) % 1000))'
const tape = session(
  ...called(1, 'ticks', {}, { n: 4711 }),
  ...called(2, 'text', {}, { text: 'tick 4711 of the server' }),
  ...called(3, 'size', {}, { size: 10 }),
)

function verified(tools: Readonly<Record<string, string>>): Promise<RepeatedReport> {
  const target = commandTarget(serverOf(tools))
  return replayRepeatedly(tape, { target, allowWrites: true }, { repeat: 3 })
}

test('values that count whole seconds are noise, and a number that changed beside them is reported', async () => {
  const ticking = { ticks: `{ n: ${SECONDS} }`, text: `{ text: 'tick ' + ${SECONDS} + ' of the server' }` }
  const [same, changed] = await Promise.all([
    verified({ ...ticking, size: '{ size: 10 }' }),
    verified({ ...ticking, size: '{ size: 11 }' }),
  ])
  expect(foundIn(same)).toEqual([])
  expect(same.summary.verdict).toBe('pass')
  expect(same.noise.map(({ path }) => path)).toEqual([
    'result.structuredContent.n',
    'result.structuredContent.text',
  ])
  expect(foundIn(changed)).toEqual(['size done values result.structuredContent.size changed [10,11]'])
  expect(changed.summary.verdict).toBe('fail')
})

test('a stop during the pause ends the runs', async () => {
  const stop = new AbortController()
  const target = commandTarget(serverOf({ ticks: '{ n: 1 }', text: '{}', size: '{}' }))
  const report = await replayRepeatedly(
    tape,
    { target, allowWrites: true, signal: stop.signal },
    { repeat: 2, onStep: ({ tool }) => void (tool === 'size' && setImmediate(() => stop.abort())) },
  )
  expect(report.runs).toBe(1)
})
