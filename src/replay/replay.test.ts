import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { liveServer, type LiveServer, type Reply } from '../../test/support/live-server.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, tapeOf } from '../../test/support/tape-of.ts'
import type { Tape } from '../store/file/read.ts'
import { idKey, type Message } from '../protocol/message.ts'
import { member } from '../json/parse.ts'
import type { Turn } from '../tape/turns.ts'
import { ReplayController } from './control/controller.ts'
import type { ReplayOptions, ReplayTarget } from './options.ts'
import { answerTimeout } from './session/deadlines.ts'
import { replay } from './replay.ts'
import type { ReplayReport } from './report.ts'
import type { RunState } from './steps/run-totals.ts'

const tape = tapeOf(
  ...HANDSHAKE,
  ...call(11, 'search', { q: 'milk' }, 'two cartons'),
  ...call('b', 'count', { of: 'milk' }, '2'),
)

test('a tape is sent message by message with fresh ids, and found to be as recorded', async () => {
  const { heard, report } = await run(tape, asRecorded)
  expect(heard.map((message) => [member(message, 'method'), toolOf(message), member(message, 'id')])).toEqual(
    [
      ['tools/call', 'search', 2],
      ['tools/call', 'count', 3],
    ],
  )
  expect(report.summary).toMatchObject({ verdict: 'pass', total: 4, sent: 2, skipped: 2 })
})

test('the recorded ids are sent when ids are not to be transformed', async () => {
  const { heard, report } = await run(tape, asRecorded, { transformIds: false })
  expect(heard.map((message) => member(message, 'id'))).toEqual([11, 'b'])
  expect(report.summary.verdict).toBe('pass')
})

test('a rule that regenerates ids gives a fresh one also where the recorded ones are sent', async () => {
  const rules = [
    { name: 'fresh', when: { kind: 'tool', equals: 'search' }, action: { kind: 'regenerate-id' } },
  ] as const
  const { report } = await run(tape, asRecorded, { transformIds: false, rules })
  const sent = report.steps.flatMap((step) => step.sent ?? [])
  expect(sent.map((text) => member(JSON.parse(text), 'id'))).toEqual([expect.stringMatching(/^__/), 'b'])
})

test('a rule that applied to no message is reported', async () => {
  const action = { kind: 'delay', by: 0 } as const
  const rules = ['search', 'serch'].map((tool) => ({
    name: `wait for ${tool}`,
    when: { kind: 'tool', equals: tool } as const,
    action,
  }))
  const { report } = await run(tape, asRecorded, { rules })
  expect(report.notes).toEqual(['the rule wait for serch applied to no message that was sent'])
})

test('a recorded id that is in use is not given to a second request', async () => {
  const twice = tapeOf(
    client({ id: 1, method: 'ping' }),
    client({ id: 1, method: 'ping' }),
    server({ id: 1, result: {} }),
  )
  const { heard } = await run(twice, () => ({ result: {} }), { transformIds: false })
  expect(new Set(heard.map((message) => member(message, 'id'))).size).toBe(heard.length)
})

test('an id goes with its request, and only a request gets a new one: the answer is found by it', async () => {
  const rules = [
    {
      name: 'seven',
      when: { kind: 'tool', equals: 'search' },
      action: { kind: 'map-id', from: 11, to: 'seven' },
    },
  ] as const
  const { heard, report } = await run(tape, asRecorded, { rules })
  expect(heard.map((message) => member(message, 'id'))).toEqual(['seven', 2])
  expect(report.steps.map(({ transformedBy }) => transformedBy)).toEqual([[], [], ['seven'], []])
  expect(report.summary.verdict).toBe('pass')
})

test('parameters are overridden by rules, and points in time moved after them', async () => {
  const dated = tapeOf(...HANDSHAKE, ...call(1, 'search', { at: '2026-11-15T00:00:00.004Z' }, 'x'))
  const rules = [
    {
      name: 'q',
      when: { kind: 'always' },
      action: { kind: 'set-param', path: ['arguments', 'since'], value: '2026-11-15T00:00:00.000Z' },
    },
  ] as const
  const { heard } = await run(dated, asRecorded, { rules, updateTimestamps: true })
  const sent = member(heard[0], 'params')
  const times = ['at', 'since'].map((name) => Date.parse(String(member(member(sent, 'arguments'), name))))
  for (const time of times) expect(Math.abs(time - Date.now())).toBeLessThan(60_000)
  expect((times[0] ?? 0) - (times[1] ?? 0)).toBe(4)
})

test('a date that is carried is not shifted again, and neither is one that a rule sets', async () => {
  const now = '2026-11-15T00:00:00.012Z'
  const dated = tapeOf(
    ...HANDSHAKE,
    ...call(1, 'search', { q: 'a' }, 'created at 2026-11-15T09:30:00.000Z'),
    ...call(2, 'search', { at: now, since: '2026-11-15T09:30:00.000Z', until: '2026-11-16T07:00:00Z' }, 'x'),
  )
  const created = '2027-01-01T10:00:00.000Z'
  const asLater = (): Reply => ({ result: { content: [{ type: 'text', text: `created at ${created}` }] } })
  const rules = [
    {
      name: 'day',
      when: { kind: 'always' },
      action: { kind: 'set-timestamp', path: ['arguments', 'day'], date: '2026-05-05T00:00:00Z' },
    },
  ] as const
  const { heard } = await run(dated, asLater, { rules, updateTimestamps: true })
  const sent = member(member(heard[1], 'params'), 'arguments')
  const times = ['at', 'since', 'until', 'day'].map((name) => String(member(sent, name)))
  expect(Math.abs(Date.parse(times[0] ?? '') - Date.now())).toBeLessThan(60_000)
  expect([times[1], times[3]]).toEqual([created, '2026-05-05T00:00:00.000Z'])
  const shift = Date.parse(times[2] ?? '') - Date.parse('2026-11-16T07:00:00Z')
  expect(Math.abs(shift - (Date.now() - Date.parse(dated.header.started)))).toBeLessThan(60_000)
})

test.each(['own', 'recorded', 'none'] as const)(
  'the start of a server has its own limit, and the others count from its first answer (handshake %s)',
  async (handshake) => {
    const states = async (startTimeout: number): Promise<readonly (string | undefined)[]> => {
      const options = { target: slowStart(150), handshake, timeout: 40, startTimeout, allowWrites: true }
      const { steps } = await replay(tape, options).report
      return [...steps].flatMap(({ state, why }) => (state === 'skipped' ? [] : [why ?? state]))
    }
    expect(new Set(await states(60_000))).toEqual(new Set(['done']))
    const late = await states(20).catch((error: unknown) => [String(error)])
    expect(late.join()).toMatch(/no answer (came )?within 20 ms/)
  },
)

test('a response that was slow on the tape may take three times as long, unless the user has set a limit', () => {
  expect([answerAt(600), answerAt(20_500)].map((turn) => answerTimeout(undefined, turn))).toEqual([
    10_000, 60_000,
  ])
  expect(answerTimeout(undefined, { ...answerAt(600), response: undefined })).toBe(10_000)
  expect(answerTimeout(50, answerAt(20_500))).toBe(50)
})

/** A call at 0.5 seconds that was answered at another time. */
function answerAt(t: number): Turn {
  const frame = { n: 1, server: 's', conn: 1, text: '' }
  const request = { kind: 'request', id: 1, method: 'tools/call', params: {} } as const
  const response = { kind: 'response', id: 1, outcome: { result: {} } } as const
  return {
    trigger: { ...frame, dir: 'c2s', t: 500, message: request },
    response: { ...frame, dir: 's2c', t, message: response },
    steps: [],
  }
}

/** A server that takes some milliseconds to start. */
function slowStart(milliseconds: number): ReplayTarget {
  const { target } = liveServer(asRecorded)
  return {
    ...target,
    open: async (handlers) => {
      const link = await target.open(handlers)
      const started = sleep(milliseconds)
      return { ...link, send: (text) => void started.then(() => link.send(text)) }
    },
  }
}

function failAsRecorded(message: Message): Reply {
  return member(message, 'id') === 2
    ? { error: { code: -32000, message: 'no' } }
    : { result: { isError: true, content: [] } }
}

test('a server that answers everything with errors has an error rate of 1, even if it did so when recorded', async () => {
  const failing = tapeOf(
    ...HANDSHAKE,
    client(callOf(1, 'search', {})),
    server({ id: 1, error: { code: -32000, message: 'no' } }),
    client(callOf(2, 'search', {})),
    server({ id: 2, result: { isError: true, content: [] } }),
  )
  const { report } = await run(failing, failAsRecorded)
  expect([report.summary.verdict, report.performance.errorRate]).toEqual(['pass', 1])
})

test.each([
  [{ include: ['resources/read'] }, '#2 resources/list'],
  [{ exclude: ['resources/list'] }, '#2 resources/list'],
  [{ from: 6 }, '#2 resources/list'],
] as const)(
  'a value is sent as recorded if its source is left out, and a note says so: %j',
  async (part, source) => {
    const uri = 'note://b1946ac92492d234'
    const listing = tapeOf(
      ...HANDSHAKE,
      client({ id: 1, method: 'resources/list' }),
      server({ id: 1, result: { resources: [{ uri, name: 'a' }] } }),
      client({ id: 2, method: 'resources/read', params: { uri } }),
      server({ id: 2, result: { contents: [] } }),
    )
    const { heard, report } = await run(listing, () => ({ result: { contents: [] } }), part)
    expect(heard.map((message) => member(member(message, 'params'), 'uri'))).toEqual([uri])
    expect(report.summary).toMatchObject({ verdict: 'pass', sent: 1, unbound: 0 })
    expect(report.notes).toEqual([
      `1 value is sent as recorded, because the messages that it comes from were left out (${source}); send these too to use live values`,
    ])
  },
)

function asText(messages: readonly object[]): string {
  return JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message })))
}

test.each([
  ['2025-03-26', {}, 1],
  ['2025-03-26', { maxConcurrent: 1 }, 3],
  ['2025-11-25', {}, 3],
] as const)('a batch goes to a server of %s with %j in %i texts', async (version, options, count) => {
  const opening = { protocolVersion: version, capabilities: {}, serverInfo: { name: 's', version: '1' } }
  const items = [
    callOf(1, 'search', { q: 'a' }),
    { method: 'notifications/roots/list_changed' },
    callOf(2, 'search', {}),
  ]
  const answers = [answerOf(1, 'x'), answerOf(2, 'x')]
  const batch = tapeOf(
    client({ id: 0, method: 'initialize', params: { protocolVersion: version, capabilities: {} } }),
    server({ id: 0, result: opening }),
    client(asText(items)),
    server(asText(answers)),
  )
  const texts: string[] = []
  const target: ReplayTarget = {
    name: 'a server with batches',
    open: async ({ onText }) => ({
      send: (text) => {
        const isOwn = text.includes('"__')
        if (!isOwn && !text.includes('notifications/initialized')) texts.push(text)
        const messages: unknown[] = [JSON.parse(text)].flat()
        const replies = messages.flatMap((message) => {
          const id = member(message, 'id')
          return id === undefined ? [] : [{ ...(isOwn ? { result: opening } : answerOf(1, 'x')), id }]
        })
        if (replies.length > 0) onText(text.startsWith('[') ? asText(replies) : asText(replies).slice(1, -1))
      },
      close: async () => {},
    }),
  }
  const { summary } = await replay(batch, { target, allowWrites: true, ...options }).report
  expect(summary).toMatchObject({ verdict: 'pass', sent: 3 })
  expect(texts).toHaveLength(count)
})

test('the items of a batch are transformed and sent one by one', async () => {
  const batch = tapeOf(
    client(
      JSON.stringify([
        { jsonrpc: '2.0', ...callOf(1, 'search', { q: 'a' }) },
        { jsonrpc: '2.0', ...callOf(2, 'search', { q: 'b' }) },
      ]),
    ),
    server(
      JSON.stringify([
        { jsonrpc: '2.0', ...answerOf(1, 'x') },
        { jsonrpc: '2.0', ...answerOf(2, 'x') },
      ]),
    ),
  )
  const rules = [
    {
      name: 'b',
      when: { kind: 'path', path: ['arguments', 'q'], equals: 'b' },
      action: { kind: 'set-param', path: ['arguments', 'q'], value: 'c' },
    },
  ] as const
  const { heard, report } = await run(batch, asRecorded, { rules })
  expect(heard.map((message) => member(member(member(message, 'params'), 'arguments'), 'q'))).toEqual([
    'a',
    'c',
  ])
  expect(report.steps.map(({ transformedBy }) => transformedBy)).toEqual([[], ['b']])
})

test('an injected error stands for the answer, and nothing is sent', async () => {
  const rules = [
    {
      name: 'no',
      when: { kind: 'tool', equals: 'search' },
      action: { kind: 'inject-error', code: -32000, message: 'no' },
    },
  ] as const
  const { heard, report } = await run(tape, asRecorded, { rules })
  expect(heard.map(toolOf)).toEqual(['count'])
  expect(report.steps.at(2)?.findings[0]?.message).toMatch(/^injected: answered with the error -32000/)
  expect(report.steps.at(2)?.findings).toMatchObject([
    { layer: 'json-rpc', actual: { code: -32000, message: 'no' } },
  ])
})

test('faults are injected by chance, the same for the same seed, and counted by kind', async () => {
  const many = tapeOf(...Array.from({ length: 40 }, (_, id) => call(id, 'search', {}, 'x')).flat())
  const states = async (seed: number): Promise<readonly string[]> => {
    const injection = {
      probability: 0.5,
      errors: ['timeout', 'network-error', 'invalid-response'],
      seed,
    } as const
    const { report, heard } = await run(many, asRecorded, { injection })
    const failed = report.steps.filter(({ findings }) => findings.length > 0)
    expect(heard).toHaveLength(40 - failed.length)
    return report.steps.map(({ state, findings }) => `${state} ${findings.length}`)
  }
  const [first, again, other] = [await states(1), await states(1), await states(2)]
  expect(first).toEqual(again)
  expect(first).not.toEqual(other)
  expect(new Set(first)).toEqual(new Set(['done 0', 'timeout 1', 'lost 1', 'done 1']))
})

test('what fails on purpose is not among what was sent, nor among the times of answers', async () => {
  const injection = { probability: 1, errors: ['invalid-response'] } as const
  const { heard, report } = await run(tape, asRecorded, {
    injection,
    handshake: 'recorded',
    allowWrites: true,
  })
  expect(heard.filter(({ kind }) => kind === 'request')).toEqual([])
  // Of the handshake, only what is no request goes out.
  expect(report.summary).toMatchObject({ verdict: 'fail', total: 4, sent: 1, injected: 3, skipped: 0 })
  expect(report.steps.map(({ isInjected }) => isInjected)).toEqual([true, undefined, true, true])
  expect([report.validation.failed, report.performance.throughput]).toEqual([3, 0])
})

test('rules of a faults file make requests fail instead of being sent, by the same names as for serve', async () => {
  const faults = [
    { tool: 'search', nth: 1, error: { code: -32000, message: 'busy' } },
    { tool: 'search', nth: 2, http: 503 },
    { tool: 'search', nth: 3, drop: true },
    { tool: 'search', nth: 4, malformed: 'not-json' },
    { tool: 'search', nth: 5, malformed: 'wrong-id' },
    { tool: 'search', nth: 6, delay: 5 },
  ]
  const many = tapeOf(...Array.from({ length: 7 }, (_, id) => call(id, 'search', {}, 'x')).flat())
  const { report, heard } = await run(many, asRecorded, { faults })
  expect(heard).toHaveLength(2)
  expect(report.summary).toMatchObject({ sent: 2, injected: 5 })
  expect(report.steps.map(({ state, why }) => `${state} ${why ?? ''}`)).toEqual([
    'done ',
    'lost injected: the server answered with HTTP 503',
    'lost injected: the stream ended before the response',
    'done ',
    'timeout injected: no answer within 0 ms',
    'done ',
    'done ',
  ])
})

test.each(['late', 'duplicate'])('the fault %s is refused before the server is started', async (kind) => {
  const faults = [{ tool: 'search', [kind]: true }]
  const opened: string[] = []
  const open: ReplayTarget['open'] = () => {
    opened.push('a link')
    throw new Error('the server was started')
  }
  await expect(replay(tape, { target: { name: 'a server', open }, faults }).report).rejects.toThrow(
    `faults[0]: the fault "${kind}" cannot be used here`,
  )
  expect(opened).toEqual([])
})

test('one at a time: no more requests are open than may be, though more had been', async () => {
  const parallel = tapeOf(
    client(callOf(1, 'search', {})),
    client(callOf(2, 'search', {})),
    client(callOf(3, 'search', {})),
    ...[1, 2, 3].map((id) => server(answerOf(id, 'x'))),
  )
  const mostOpen = async (maxConcurrent: number): Promise<number> => {
    let [open, most] = [0, 0]
    await run(
      parallel,
      async (message) => {
        most = Math.max(most, ++open)
        await new Promise((resolve) => setImmediate(resolve))
        open--
        return asRecorded(message)
      },
      { maxConcurrent },
    )
    return most
  }
  expect([await mostOpen(1), await mostOpen(2), await mostOpen(Infinity)]).toEqual([1, 2, 3])
})

test('continue: a failed step is reported, and the run goes on', async () => {
  const { report } = await run(tape, (message) =>
    toolOf(message) === 'search' ? wrong : asRecorded(message),
  )
  expect(report.steps.map(({ state, findings }) => [state, findings.length])).toEqual([
    ['skipped', 0],
    ['skipped', 0],
    ['done', 1],
    ['done', 0],
  ])
})

test('stop: nothing is sent after a step that failed', async () => {
  const { heard, report } = await run(tape, () => wrong, { onError: 'stop' })
  expect(heard.map(toolOf)).toEqual(['search'])
  expect(report.steps.at(3)).toMatchObject({ state: 'skipped', why: 'the run was stopped' })
})

test('pause: the run waits after a step that failed until it is resumed', async () => {
  const live = liveServer(() => wrong)
  const playing = replay(tape, { ...live, onError: 'pause' })
  for await (const step of playing) {
    if (step.tool !== 'search') continue
    await new Promise((resolve) => setImmediate(resolve))
    expect([playing.state().status, live.heard.map(toolOf)]).toEqual(['paused', ['search']])
    playing.controller.resume()
  }
  expect(live.heard.map(toolOf)).toEqual(['search', 'count'])
  expect(playing.state().status).toBe('done')
})

test('retry: what got no answer is sent again, under a new id, as often as it may be', async () => {
  let calls = 0
  const options = { onError: 'retry', maxRetries: 3, retryDelay: 1, timeout: 20 } as const
  const { heard, report } = await run(
    tape,
    (message) => (++calls < 3 ? undefined : asRecorded(message)),
    options,
  )
  expect(report.steps.at(2)).toMatchObject({ state: 'done', retries: 2, findings: [] })
  expect(new Set(heard.map((message) => member(message, 'id'))).size).toBe(4)
  const never = await run(tape, () => undefined, {
    ...options,
    maxRetries: 1,
    include: ['tools/call:search'],
  })
  expect(never.report.steps.at(2)).toMatchObject({ state: 'timeout', retries: 1 })
  expect(never.heard).toHaveLength(2)
})

test('the state of a run: what it has done, what waits by id, and how long it takes', async () => {
  const live = liveServer(async (message) => {
    if (toolOf(message) === 'search') seen.push(playing.state())
    return toolOf(message) === 'count' ? wrong : asRecorded(message)
  })
  const seen: RunState[] = []
  const playing = replay(tape, live)
  expect(playing.state()).toMatchObject({
    currentIndex: undefined,
    sent: 0,
    received: 0,
    errors: 0,
    pending: [],
  })
  const { summary } = await playing.report
  const [during] = seen
  expect(during).toMatchObject({
    status: 'running',
    currentIndex: 2,
    errors: 0,
    // initialize, initialized and tools/list are ours
    sent: 4,
    received: 2,
    pending: [{ id: 2, text: expect.stringContaining('"milk"') as string }],
  })
  expect(during?.startedAt).toBeInstanceOf(Date)
  expect(playing.state()).toMatchObject({
    status: 'done',
    currentIndex: 3,
    sent: 5,
    received: 4,
    errors: 1,
    pending: [],
  })
  expect(playing.state().elapsed).toBe(playing.state().elapsed)
  expect(playing.state().elapsed).toBeGreaterThanOrEqual(summary.duration)
})

test('a run that is stopped before it begins sends nothing, and says so', async () => {
  const controller = new ReplayController()
  controller.stop()
  const { heard, report } = await run(tape, asRecorded, { controller })
  expect(heard).toEqual([])
  expect(report.steps.map(({ why }) => why)).toEqual(Array.from({ length: 4 }, () => 'the run was stopped'))
})

test('a run that is interrupted does not wait for answers that are still to come', async () => {
  const stop = new AbortController()
  const silent: ReplayTarget = {
    name: 'a server that never answers',
    open: async () => ({ send: () => stop.abort(), close: async () => {} }),
  }
  const options = { target: silent, handshake: 'none', allowWrites: true, timeout: 3_600_000 } as const
  const { steps } = await replay(tape, { ...options, signal: stop.signal }).report
  const [search, count] = ['search', 'count'].map((name) => steps.find(({ tool }) => tool === name))
  expect([search, count]).toMatchObject([{ state: 'lost' }, { state: 'skipped' }])
})

const PING = [client({ id: 1, method: 'ping' }), server({ id: 1, result: {} })]

test.each<[string, Tape]>([
  ['a tape with calls of tools', tape],
  ['one without', tapeOf(...HANDSHAKE, ...PING)],
])('a run of %s that is interrupted in its handshake is over, and sent nothing', async (_, played) => {
  const stop = new AbortController()
  const sent: string[] = []
  const silent: ReplayTarget = {
    name: 'a server that never answers',
    open: async () => ({
      send: (text) => {
        sent.push(text)
        stop.abort()
      },
      close: async () => {},
    }),
  }
  const options = { target: silent, timeout: 3_600_000, signal: stop.signal }
  const { steps, summary } = await replay(played, options).report
  expect([sent.length, summary.sent, steps.at(-1)?.why]).toEqual([1, 0, 'the run was stopped'])
  await replay(played, options).report
  expect(sent).toHaveLength(1)
})

test('a controller that stops a run in a handshake without end ends it, and nothing is sent', async () => {
  const controller = new ReplayController()
  const silent: ReplayTarget = {
    name: 'a server that never answers',
    open: async () => ({ send: () => controller.stop(), close: async () => {} }),
  }
  const options = { target: silent, timeout: 3_600_000, controller }
  const { summary, errors } = await replay(tapeOf(...HANDSHAKE, ...PING), options).report
  expect([summary.sent, summary.skipped, errors]).toEqual([0, 3, []])
})

test('a controller that stops a run whose request waits to be sent again ends it, and the last attempt is told', async () => {
  const controller = new ReplayController()
  const lost: ReplayTarget = {
    name: 'a server that loses everything',
    open: async ({ onLost }) => ({
      send: (text) => {
        onLost(idKey(Number(JSON.parse(text).id)), 'it fell off')
        setImmediate(() => controller.stop())
      },
      close: async () => {},
    }),
  }
  const patient = { onError: 'retry', retryDelay: 3_600_000, controller } as const
  const options = { target: lost, handshake: 'none', ...patient } as const
  const { steps, summary } = await replay(tapeOf(...PING, ...PING), options).report
  expect([...steps]).toMatchObject([
    { state: 'lost', why: 'it fell off', retries: 0 },
    { state: 'skipped', why: 'the run was stopped' },
  ])
  expect(summary).toMatchObject({ sent: 1, skipped: 1, verdict: 'fail' })
})

test('a link that is there only after the run was interrupted is closed', async () => {
  const stop = new AbortController()
  let isClosed = false
  const slow: ReplayTarget = {
    name: 'a server that starts slowly',
    open: async () => {
      stop.abort()
      await new Promise((resolve) => setImmediate(resolve))
      return { send: () => {}, close: async () => void (isClosed = true) }
    },
  }
  await replay(tape, { target: slow, timeout: 3_600_000, signal: stop.signal }).report
  expect(isClosed).toBe(true)
})

test('a controller may be given to one run after the other', async () => {
  const controller = new ReplayController()
  const [first, second] = [
    await run(tape, asRecorded, { controller }),
    await run(tape, asRecorded, { controller }),
  ]
  expect([first.heard.length, second.heard.length]).toEqual([2, 2])
})

test('no message goes out before it is due, or before the delay that a rule asks for is over', async () => {
  const rules = [
    { name: 'later', when: { kind: 'tool', equals: 'search' }, action: { kind: 'delay', by: 30 } },
  ] as const
  const { report } = await run(tape, asRecorded, { rules, timing: { kind: 'fixed', delay: 20 } })
  const [, , search = 0, count = 0] = report.steps.map(({ sentAt = 0 }) => sentAt)
  // The two messages of the handshake are due before them, though they are not sent.
  expect(search).toBeGreaterThanOrEqual(2 * 20 + 29)
  expect(count - search).toBeGreaterThanOrEqual(0)
})

test('a message that a rule delays is passed by those that were sent beside it, which keep their order', async () => {
  const calls = ['a', 'b', 'c', 'd']
  const parallel = tapeOf(
    ...HANDSHAKE,
    ...calls.map((q, id) => client(callOf(id, 'search', { q }))),
    ...calls.map((_, id) => server(answerOf(id, 'x'))),
  )
  const rules = [
    {
      name: 'later',
      when: { kind: 'path', path: ['arguments', 'q'], equals: 'b' },
      action: { kind: 'delay', by: 20 },
    },
  ] as const
  const { heard, report } = await run(parallel, asRecorded, { rules })
  expect(heard.map(queryOf)).toEqual(['a', 'c', 'd', 'b'])
  expect(report.summary).toMatchObject({ verdict: 'pass', sent: 4 })
})

test('messages that open a connection are sent in their order, and so are those that follow', async () => {
  const parallel = tapeOf(
    ...[1, 2, 3].map((id) => client(callOf(id, 'search', { q: String(id) }))),
    client({ method: 'notifications/roots/list_changed' }),
    client(callOf(4, 'search', { q: '4' })),
    ...[1, 2, 3, 4].map((id) => server(answerOf(id, 'x'))),
    ...call(5, 'search', { q: '5' }, 'x'),
  )
  const { heard } = await run(parallel, asRecorded, { handshake: 'none', allowWrites: true })
  expect(heard.map(queryOf)).toEqual(['1', '2', '3', undefined, '4', '5'])
})

test('a cancellation names the rules that changed it', async () => {
  const cancelled = tapeOf(
    ...HANDSHAKE,
    client(callOf(1, 'search', {})),
    client({ method: 'notifications/cancelled', params: { requestId: 1 } }),
  )
  const rules = [
    {
      name: 'reason',
      when: { kind: 'method', equals: 'notifications/cancelled' },
      action: { kind: 'set-param', path: ['reason'], value: 'enough' },
    },
  ] as const
  const { heard, report } = await run(cancelled, () => undefined, { rules })
  expect(heard.at(-1)).toMatchObject({ params: { requestId: 2, reason: 'enough' } })
  expect(report.steps.at(-1)).toMatchObject({ state: 'done', transformedBy: ['reason'] })
  expect(report.notes).toEqual([])
})

test('a report that is spread or serialized keeps its steps and its timeline', async () => {
  const { report } = await run(tape, (message) => (toolOf(message) === 'count' ? wrong : asRecorded(message)))
  const copy = { ...report, notes: ['mine'] }
  expect(Array.from(copy.steps, ({ index, tool, state }) => [index, tool, state])).toEqual([
    [0, undefined, 'skipped'],
    [1, undefined, 'skipped'],
    [2, 'search', 'done'],
    [3, 'count', 'done'],
  ])
  const written = JSON.parse(JSON.stringify(copy)) as Pick<ReplayReport, 'steps' | 'timeline'>
  expect(written.steps).toEqual(JSON.parse(JSON.stringify([...report.steps])))
  expect(Array.from(copy.timeline, ({ index, state }) => [index, state])).toEqual([
    [2, 'done'],
    [3, 'done'],
  ])
  expect(written.timeline).toEqual(JSON.parse(JSON.stringify([...report.timeline])))
})

test('no more results wait for a slow reader than the buffer holds', async () => {
  const many = tapeOf(...Array.from({ length: 20 }, (_, id) => call(id, 'search', {}, 'x')).flat())
  const live = liveServer(asRecorded)
  const ahead: number[] = []
  let read = 0
  for await (const _ of replay(many, { ...live, bufferSize: 3 })) {
    read++
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    ahead.push(live.heard.length - read)
  }
  expect(read).toBe(20)
  // The one that was on its way when the buffer became full comes on top.
  expect(Math.max(...ahead)).toBeLessThanOrEqual(4)
})

test('without a reader, or after it has left, a buffer holds nothing up', async () => {
  const live = liveServer(asRecorded)
  expect((await replay(tape, { ...live, bufferSize: 1 }).report).summary.sent).toBe(2)
  const left = replay(tape, { ...live, bufferSize: 1 })
  for await (const _ of left) break
  expect((await left.report).summary.sent).toBe(2)
})

const wrong: Reply = { result: { content: [{ type: 'text', text: 'something else' }] } }

/** What the tape of this page holds, by tool. */
function asRecorded(message: Message): Reply {
  const text = { search: 'two cartons', count: '2' }[toolOf(message) ?? ''] ?? 'x'
  const isMade = member(member(message, 'params'), 'arguments')
  return { result: { content: [{ type: 'text', text: hasMilk(isMade) ? text : 'x' }] } }
}

function hasMilk(args: unknown): boolean {
  return JSON.stringify(args ?? null).includes('milk')
}

function toolOf(message: Message): string | undefined {
  const name = member(member(message, 'params'), 'name')
  return typeof name === 'string' ? name : undefined
}

function queryOf(message: Message): unknown {
  return member(member(member(message, 'params'), 'arguments'), 'q')
}

async function run(
  played: Tape,
  reply: Parameters<typeof liveServer>[0],
  options: Omit<ReplayOptions, 'target'> = {},
): Promise<Pick<LiveServer, 'heard'> & { report: ReplayReport }> {
  const { target, heard } = liveServer(reply)
  return { heard, report: await replay(played, { target, ...options }).report }
}
