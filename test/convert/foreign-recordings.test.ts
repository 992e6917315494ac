import { readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { CreateMessageRequestSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import { loadTape } from '../../src/store/file/read.ts'
import type { Tape } from '../../src/store/file/read.ts'
import { isObject, member } from '../../src/json/parse.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'

/**
 * Recordings of one server, made by unmodified releases of other tools: mcp-cassette 0.4 from npm's repository and from PyPI,
 * mcp-vcr 0.2, mcp-flight-recorder 0.2, mcp-time-travel 0.3, mcporter 0.12, mcpsnoop and agent-vcr (JaydenCJ).
 */
const KIOSK = resolve('test/fixtures/foreign/kiosk')
/** REELAY_SAMPLES names a folder with more recordings, such as those of your own tools. */
const SAMPLES = process.env['REELAY_SAMPLES']

const FILES = [KIOSK, ...(SAMPLES === undefined ? [] : [resolve(SAMPLES)])].flatMap(recordingsIn)

/** A folder with metadata.json is one recording. */
function recordingsIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => !/^README|^LICENSE/.test(name))
  if (names.includes('metadata.json')) return [folder]
  return names.flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? recordingsIn(path) : [path]
  })
}

test.each(FILES.map((path) => [basename(path), path]))(
  '%s is imported, inspected and served to an SDK client',
  { timeout: 60_000 },
  async (_, path) => {
    const tape = join(temporaryFolder(), 'foreign.tape.jsonl')
    expect(await reelay('import', path, '-o', tape)).toMatchObject({ code: 0 })
    const inspected = await reelay('inspect', tape)
    expect(inspected).toMatchObject({ code: 0, err: '' })
    const loaded = await loadTape(tape)
    const calls = callsOf(loaded)
    expect(calls.length).toBeGreaterThan(0)
    for (const { label } of calls) expect(inspected.out).toContain(label)
    expect(inspected.out).not.toMatch(/unanswered|answer to/)
    await expectServed(loaded, calls)
  },
)

interface RecordedCall {
  readonly label: string
  readonly method: string
  readonly params: Record<string, unknown> | undefined
  readonly outcome: Readonly<Record<string, unknown>>
}

function callsOf({ turns }: Tape): readonly RecordedCall[] {
  return turns.flatMap(({ trigger, response }) => {
    if (trigger?.message.kind !== 'request' || response?.message.kind !== 'response') return []
    const { method, params } = trigger.message
    const name = member(params, 'name')
    const label = typeof name === 'string' ? `${method} ${name}` : method
    return [
      { label, method, params: isObject(params) ? params : undefined, outcome: response.message.outcome },
    ]
  })
}

/** Every recorded call of a client gets its recorded response. */
async function expectServed(tape: Tape, calls: readonly RecordedCall[]): Promise<void> {
  const client = new Client({ name: 'guest', version: '1' }, { capabilities: { sampling: {} } })
  const replies = tape.turns.flatMap(({ steps }) => steps.filter(({ kind }) => kind === 'ask'))
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: `reply ${replies.length}` },
  }))
  await client.connect(replayTransport(tape, { drift: 'ignore' }))
  for (const { label, method, params, outcome } of calls) {
    if (method === 'initialize') continue
    const answer = await client
      .request({ method, ...(params && { params }) }, ResultSchema)
      .then((result) => ({ result }))
      .catch((error: unknown) => ({ error: member(error, 'code') }))
    const recorded = 'error' in outcome ? { error: member(outcome['error'], 'code') } : outcome
    expect([label, answer]).toEqual([label, recorded])
  }
  await client.close()
}

test('responses that a recorder wrote before their requests come after them', async () => {
  const tape = join(temporaryFolder(), 'foreign.tape.jsonl')
  const { out, err } = await reelay('import', join(KIOSK, 'kiosk.snoop.jsonl'), '-o', tape)
  expect(err).toBe('note: 1 response was recorded before the request; the order is repaired\n')
  expect(out).toBe(`32 messages (mcpsnoop) to ${tape}\n`)
  expect((await loadTape(tape)).strays).toEqual([])
})

async function reelay(
  ...args: readonly string[]
): Promise<{ code: number | null; out: string; err: string }> {
  const env = { ...process.env, REELAY_HOME: temporaryFolder() }
  const run = start([process.execPath, REELAY, ...args], { env })
  const { code } = await run.exited
  return { code, out: run.stdout().toString(), err: run.stderr() }
}
