import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectTape, useTape } from 'reelay/node-test'
import { report } from './agent.mjs'

// The demo server of Reelay stands in for yours.
const live = { command: 'npx', args: ['reelay', 'demo', '--server'] }
const busy = { code: -32000, message: 'too many requests' }

test('a call that fails once is tried again', async (context) => {
  const faults = [{ tool: 'weather', nth: 1, error: busy }]
  const tape = await useTape('oslo', { test: context, live, faults })
  assert.match(await report(await tape.transport(), 'Oslo'), /°C in Oslo/)
  expectTape(tape).toHaveCalledTimes('weather', 2)
})

test('a server that keeps failing is reported, and not called forever', async (context) => {
  const faults = [{ tool: 'weather', error: busy }]
  const tape = await useTape('oslo', { test: context, faults, drift: 'ignore' })
  assert.match(await report(await tape.transport(), 'Oslo'), /^no weather for Oslo: .*too many requests/)
  expectTape(tape).toHaveCalledTimes('weather', 2)
})

test('a response that is cut off does not crash the agent', async (context) => {
  const overrides = [{ tool: 'weather', result: { content: [{ type: 'text', text: '' }] } }]
  const tape = await useTape('oslo', { test: context, overrides, drift: 'ignore' })
  assert.equal(await report(await tape.transport(), 'Oslo'), '')
})
