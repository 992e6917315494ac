import { expect, test } from 'vitest'
import { liveServer, type LiveServer } from '../../../test/support/live-server.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, tapeOf } from '../../../test/support/tape-of.ts'
import { type Replay, replay } from '../replay.ts'
import type { ReplayOptions } from '../options.ts'
import type { Breakpoint, ControllerEvent, ExtraMessageEvent, MessageView } from './commands.ts'
import { ReplayController } from './controller.ts'
import type { ReplayedTape } from '../plan/server-part.ts'

const TOTALS = [3, 120, 7, 250]
const found = (total: number): object => ({ content: [], structuredContent: { total } })

/** Four searches, one notification and a count; the exchange with the number 1 is the handshake. */
const TAPE = tapeOf(
  ...HANDSHAKE,
  ...TOTALS.flatMap((total, at) => [
    client(callOf(at + 1, 'search', { q: `word ${at + 1}` })),
    server({ id: at + 1, result: found(total) }),
  ]),
  client({ method: 'notifications/roots/list_changed' }),
  ...call(5, 'count', {}, 'five'),
)

/** Answers as recorded, except for the third search. */
function searchServer(): LiveServer {
  return liveServer((message) => {
    const params = message.kind === 'request' ? JSON.stringify(message.params) : ''
    const number = Number(/word (\d)/.exec(params)?.[1])
    if (params.includes('"count"')) return { result: { content: [{ type: 'text', text: 'five' }] } }
    return { result: found(number === 3 ? 8 : (TOTALS[number - 1] ?? -1)) }
  })
}

interface Debugged {
  readonly controller: ReplayController
  readonly live: LiveServer
  readonly events: ControllerEvent[]
  readonly run: Replay
  /** Where the run has stopped, after a command. */
  readonly at: (...commands: readonly object[]) => Promise<string>
}

function debug(
  options: Partial<ReplayOptions> = {},
  before: (one: ReplayController) => void = () => {},
  tape: ReplayedTape = TAPE,
): Debugged {
  const live = searchServer()
  const controller = new ReplayController()
  const events: ControllerEvent[] = []
  controller.subscribe((event) => events.push(event))
  before(controller)
  const run = replay(tape, { target: live.target, ordering: { kind: 'sequential' }, ...options, controller })
  const at = async (...commands: readonly object[]): Promise<string> => {
    for (const command of commands) await controller.execute(command)
    await controller.waitForStop()
    const stop = controller.currentStop
    if (stop === undefined) return controller.status
    const { message, phase, reason } = stop
    return message === undefined ? `${phase} (${reason})` : `#${message.exchange} ${phase} (${reason})`
  }
  return { controller, live, events, run, at }
}

const stopAtFirst = (controller: ReplayController): void => controller.stopAtFirst()
const STEP = { type: 'step' }
const BACK = { type: 'stepBack' }
const RESUME = { type: 'resume' }

test('a run stops at its first message, and steps to the next ones and to the end', async () => {
  const { at, live, run } = debug({}, stopAtFirst)
  expect(await at()).toBe('#2 request (entry)')
  expect(live.heard).toEqual([])
  expect(await at(STEP)).toBe('#3 request (step)')
  expect(live.heard.length).toBe(1)
  expect(await at({ type: 'step', unit: 'message' })).toBe('#3 response (step)')
  expect(await at({ type: 'step', unit: 'message' })).toBe('#4 request (step)')
  expect(await at(STEP, STEP, STEP).catch(String)).toContain(
    'only a run that is stopped at a message can step',
  )
  expect(await at()).toBe('#5 request (step)')
  expect(await at(STEP)).toBe('#undefined request (step)')
  expect(await at(STEP)).toBe('#6 request (step)')
  expect(await at(STEP)).toBe('end (end)')
  expect(await at(RESUME)).toBe('done')
  expect((await run.report).summary).toMatchObject({ sent: 6, verdict: 'fail' })
})

test('a run that stops before its first message has sent nothing, not even the list of tools', async () => {
  const tape = tapeOf(
    ...HANDSHAKE,
    client({ id: 1, method: 'tools/list' }),
    server({ id: 1, result: { tools: [] } }),
    ...call(2, 'count', {}, 'five'),
  )
  const { at, live, controller } = debug({}, stopAtFirst, tape)
  expect(await at()).toBe('#2 request (entry)')
  expect(live.heard).toEqual([])
  controller.modify({ kind: 'set', path: 'params.cursor', value: 'b' })
  expect(await at(STEP)).toBe('#3 request (step)')
  expect(JSON.stringify(live.heard)).toMatch(/^\[[^[]*"cursor":"b"[^[]*\]$/)
})

test('a run that is paused in the moment in which it goes on stops at the next message', async () => {
  const { at, controller, live } = debug({}, stopAtFirst)
  expect(await at()).toBe('#2 request (entry)')
  controller.step()
  controller.pause()
  controller.pause()
  expect(await at()).toBe('#3 request (pause)')
  expect(live.heard.length).toBe(1)
  controller.resume()
  controller.pause()
  expect(await at()).toBe('#4 request (pause)')
  expect(await at(STEP)).toBe('#5 request (step)')
})

test.each<[name: string, spec: object, stops: readonly string[]]>([
  ['a number', { filter: '#4' }, ['#4 request']],
  [
    'a method',
    { filter: 'method:tools/*' },
    ['#2 request', '#3 request', '#4 request', '#5 request', '#6 request'],
  ],
  ['a tool', { filter: 'tool:count' }, ['#6 request']],
  [
    'a condition on the response',
    { filter: 'result.structuredContent.total > 100' },
    ['#3 response', '#5 response'],
  ],
  ['a condition on the request', { filter: 'params.arguments.q == "word 4"' }, ['#5 request']],
  ['an index', { index: 4 }, ['#4 request']],
  ['a difference', { difference: true }, ['#4 response']],
  ['a frame of a request', { frame: 6 }, ['#3 request']],
  ['a frame of a response', { frame: 7 }, ['#3 response']],
  [
    'a frame with a condition that does not hold',
    { frame: 6, filter: 'result.structuredContent.total > 200' },
    [],
  ],
  [
    'a frame with a condition that holds',
    { frame: 6, filter: 'result.structuredContent.total > 100' },
    ['#3 response'],
  ],
  ['every second hit', { filter: 'tool:search', hits: '%2' }, ['#3 request', '#5 request']],
  ['one hit', { filter: 'tool:search', once: true }, ['#2 request']],
])('a run stops at %s', async (_, spec, stops) => {
  const { controller, at, run } = debug({}, (one) => one.addBreakpoint(spec))
  const seen: string[] = []
  for (let stop = await at(); controller.status === 'paused'; stop = await at(RESUME))
    seen.push(stop.replace(/ \(.*/, ''))
  expect(seen).toEqual(stops)
  expect((await run.report).summary.sent).toBe(6)
})

test('a debugging session is stepped, compares responses, and stops at a breakpoint and after a difference', async () => {
  const options = { timing: { kind: 'stepped' }, onError: 'pause' } as const
  const { at, live, run } = debug(options, (one) => one.addBreakpoint({ index: 4 }))
  expect(await at()).toBe('#2 request (entry)')
  expect(await at(STEP)).toBe('#3 request (step)')
  expect(live.heard.length).toBe(1)
  expect(await at(RESUME)).toBe('#4 request (breakpoint)')
  expect(await at(RESUME)).toBe('#5 request (pause)') // after the difference in #4
  expect(live.heard.length).toBe(3)
  expect(await at(RESUME)).toBe('done')
  const { steps } = await run.report
  expect(steps.flatMap(({ exchange, findings }) => (findings.length > 0 ? [exchange] : []))).toEqual([4])
})

test('a logpoint prints values and does not stop; a removed breakpoint does nothing', async () => {
  const { controller, at, events } = debug({}, (one) => {
    one.addBreakpoint({
      filter: 'tool:search',
      log: '{{#{exchange}}} {params.arguments.q}: {result.structuredContent.total}',
    })
    const { id } = one.addBreakpoint({ filter: 'tools/call' })
    one.removeBreakpoint(id)
  })
  expect(await at()).toBe('done')
  expect(events.flatMap((event) => (event.type === 'output' ? event.text : []))).toEqual([
    '{#2} word 1: 3',
    '{#3} word 2: 120',
    '{#4} word 3: 8',
    '{#5} word 4: 250',
  ])
  expect(controller.breakpoints.map(({ id, phase, hitCount }) => ({ id, phase, hitCount }))).toEqual([
    { id: 1, phase: 'response', hitCount: 4 },
  ])
})

test('stepping back shows what became of earlier messages and sends nothing; going forward again ends where the run has stopped', async () => {
  const { controller, at, live } = debug({}, (one) => one.addBreakpoint({ filter: '#5' }))
  expect(await at()).toBe('#5 request (breakpoint)')
  expect(await at(BACK)).toBe('#4 request (back)')
  expect(controller.show()).toMatchObject({
    exchange: 4,
    isNext: false,
    state: 'done',
    findings: [{ path: 'result.structuredContent.total', expected: 7, actual: 8 }],
  })
  expect(await at({ type: 'stepBack', unit: 'message' })).toBe('#3 response (back)')
  expect(await at({ type: 'stepBack', unit: 'message' })).toBe('#3 request (back)')
  expect(await at(BACK)).toBe('#2 request (back)')
  expect(await at(BACK).catch(String)).toContain('there is no message before this one')
  expect(await at({ type: 'step', unit: 'message' })).toBe('#2 response (back)')
  expect(await at(STEP, STEP, STEP)).toBe('#5 request (breakpoint)')
  expect(live.heard.length).toBe(3)
})

test('a run goes back and forth between breakpoints of the past', async () => {
  const { controller, at, live } = debug({}, (one) => one.addBreakpoint({ filter: '#6' }))
  expect(await at()).toBe('#6 request (breakpoint)')
  controller.addBreakpoint({ filter: 'result.structuredContent.total > 100' })
  expect(await at({ type: 'reverse' })).toBe('#5 response (back)')
  expect(await at({ type: 'reverse' })).toBe('#3 response (back)')
  expect(await at({ type: 'reverse' })).toBe('#2 request (back)')
  expect(await at(RESUME)).toBe('#3 response (back)')
  expect(await at(RESUME, RESUME)).toBe('#6 request (breakpoint)')
  expect(live.heard.length).toBe(5)
  expect(await at(RESUME)).toBe('done')
})

test.each<[name: string, target: object, stop: string, sent: number]>([
  ['the number of an exchange', { exchange: 4 }, '#4 request (seek)', 2],
  ['an index', { index: 3 }, '#3 request (seek)', 1],
  ['a frame', { frame: 7 }, '#3 request (seek)', 1],
  ['a time', { time: 7.5 }, '#4 request (seek)', 2],
  ['a share', { percent: 50 }, '#5 request (seek)', 3],
  ['the end', { percent: 100 }, 'end (end)', 6],
])('a run goes to %s', async (_, target, stop, sent) => {
  const { at, live } = debug({}, stopAtFirst)
  await at()
  expect(await at({ type: 'seek', ...target })).toBe(stop)
  expect(live.heard.length).toBe(sent)
  expect(await at({ type: 'seek', exchange: 2 })).toBe('#2 request (back)')
  expect(live.heard.length).toBe(sent)
})

test('a message that waits is changed, delayed, skipped or answered with an error', async () => {
  const { controller, at, live, run } = debug({}, stopAtFirst)
  await at()
  const edited = (await controller.execute({
    type: 'modifyNext',
    action: { kind: 'set', path: 'params.arguments.q', value: 'word 2' },
  })) as MessageView
  expect(edited).toMatchObject({ isEdited: true, isNext: true })
  expect(JSON.parse(edited.request ?? '')).toMatchObject({ params: { arguments: { q: 'word 2' } } })
  await at(STEP)
  expect(live.heard.at(-1)).toMatchObject({ params: { arguments: { q: 'word 2' } } })
  await at({ type: 'modifyNext', action: { kind: 'skip' } }, STEP)
  await at({ type: 'modifyNext', action: { kind: 'error', code: -1, message: 'no' } }, STEP)
  await at({ type: 'modifyNext', action: { kind: 'remove', path: 'params.arguments.q' } })
  await at(
    { type: 'modifyNext', action: { kind: 'reset' } },
    { type: 'modifyNext', action: { kind: 'delay', milliseconds: 1 } },
  )
  expect(await at(RESUME)).toBe('done')
  const { steps } = await run.report
  expect(
    steps
      .filter(({ tool }) => tool === 'search')
      .map(({ state, why, transformedBy, isInjected }) => ({ state, why, transformedBy, isInjected })),
  ).toEqual([
    { state: 'done', why: undefined, transformedBy: ['debugger'], isInjected: undefined },
    { state: 'skipped', why: 'skipped by the user', transformedBy: [], isInjected: undefined },
    { state: 'done', why: undefined, transformedBy: ['debugger'], isInjected: true },
    { state: 'done', why: undefined, transformedBy: ['debugger'], isInjected: undefined },
  ])
})

test('the next message is changed while the run is not stopped', async () => {
  const { controller, at, live } = debug({}, (one) => one.pause())
  controller.resume()
  void controller.execute({ type: 'pause' })
  expect(await at()).toMatch(/request \(pause\)/)
  expect(
    await at({ type: 'modifyNext', action: { kind: 'replace', message: callOf(9, 'count', {}) } }).catch(
      String,
    ),
  ).toContain('the changed message is not a request')
  await at({
    type: 'modifyNext',
    action: { kind: 'replace', message: { jsonrpc: '2.0', ...callOf(9, 'count', {}) } },
  })
  expect(await at(RESUME)).toBe('done')
  expect(live.heard[0]).toMatchObject({ method: 'tools/call', params: { name: 'count' } })
})

test('a message is sent again by its index, and later messages use the new response; the report does not count it', async () => {
  const { controller, at, live, run } = debug({}, (one) => one.addBreakpoint({ filter: '#4' }))
  await at()
  expect(await at(BACK)).toBe('#3 request (back)')
  const again = (await controller.execute({
    type: 'resend',
    action: { kind: 'set', path: 'params.arguments.q', value: 'word 4' },
  })) as ExtraMessageEvent
  expect(again).toMatchObject({
    type: 'resent',
    message: { exchange: 3, findings: [{ expected: 120, actual: 250 }] },
  })
  expect(live.heard.length).toBe(3)
  expect(await at(RESUME)).toBe('#4 request (breakpoint)')
  expect(controller.state().counts).toMatchObject({ resent: 1, differences: 0 })
  await at(RESUME)
  const { summary, notes } = await run.report
  expect(summary.sent).toBe(6)
  expect(notes).toContain('tools/call (#3) was sent again by the user; the server kept its state')
})

test('a message that is not on the tape is sent, and its response is returned', async () => {
  const { controller, at, run } = debug({}, stopAtFirst)
  await at()
  const message = { method: 'tools/call', params: { name: 'count', arguments: {} } }
  expect(await controller.execute({ type: 'inject', message })).toMatchObject({
    type: 'injected',
    sent: expect.stringMatching(/^\{"jsonrpc":"2.0","id":\d+,"method":"tools\/call","params":/),
    response: expect.stringContaining('five'),
  })
  expect(await controller.execute({ type: 'inject', message: { method: 'notifications/x' } })).toMatchObject({
    sent: '{"jsonrpc":"2.0","method":"notifications/x"}',
    response: undefined,
  })
  await at(RESUME)
  expect((await run.report).summary.sent).toBe(6)
})

test('calls that may write are neither injected, nor sent again, nor edited into a message, unless they are allowed', async () => {
  const { controller, at, live } = debug({}, stopAtFirst)
  await at()
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'delete', arguments: {} } }
  const refused = /must not be sent: the server does not list the tool, so it may write/
  await expect(controller.execute({ type: 'inject', message })).rejects.toThrow(refused)
  await expect(
    controller.execute({ type: 'modifyNext', action: { kind: 'replace', message } }),
  ).rejects.toThrow(refused)
  await at(STEP)
  await expect(
    controller.execute({ type: 'resend', index: 2, action: { kind: 'replace', message } }),
  ).rejects.toThrow(refused)
  expect(live.heard.length).toBe(1)
  const allowed = debug({ allow: ['delete'] }, stopAtFirst)
  await allowed.at()
  await allowed.controller.execute({ type: 'inject', message })
  expect(allowed.live.heard.length).toBe(1)
})

test('status events have progress, the current message, counts, metrics and the time left', async () => {
  const { at, events, controller } = debug({}, (one) => one.addBreakpoint({ filter: '#5' }))
  await at()
  expect(controller.state()).toMatchObject({
    status: 'paused',
    progress: { done: 3, total: 6, percent: 50 },
    current: { exchange: 5, method: 'tools/call', tool: 'search' },
    counts: { differences: 1, skipped: 0, held: 0, resent: 0, injected: 0 },
    metrics: { pending: 0 },
  })
  const { progress, metrics } = controller.state()
  expect(
    [progress.elapsed, progress.remaining, metrics.mean, metrics.throughput].every(Number.isFinite),
  ).toBe(true)
  await at(RESUME)
  const statuses = events.flatMap((event) => (event.type === 'status' ? event.status : []))
  expect([...new Set(statuses)]).toEqual(['running', 'paused', 'done'])
  expect(controller.state().progress).toMatchObject({ done: 6, percent: 100, remaining: 0 })
  expect(events.at(-1)).toEqual({ type: 'ended', status: 'done' })
  expect(() => JSON.stringify(events)).not.toThrow()
})

/** The second search got no response when it was recorded. */
const LOST = tapeOf(
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'a' }, 'one'),
  client(callOf(2, 'search', { q: 'b' })),
  ...call(3, 'search', { q: 'c' }, 'three'),
)
/** It was cancelled before the third one. */
const CANCELLED = tapeOf(
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'a' }, 'one'),
  client(callOf(2, 'search', { q: 'b' })),
  client({ method: 'notifications/cancelled', params: { requestId: 2 } }),
  ...call(3, 'search', { q: 'c' }, 'three'),
)
const texts: Readonly<Record<string, string>> = { a: 'one', b: 'two', c: 'three' }

/** A server that answers the second search only if it is told to. */
function searches(answersSecond: boolean): LiveServer {
  return liveServer((message) => {
    const q = /"q":"(.)"/.exec(JSON.stringify(message))?.[1] ?? ''
    return q === 'b' && !answersSecond ? undefined : { result: answerOf(0, texts[q] ?? q)['result'] }
  })
}

const MESSAGE = { type: 'step', unit: 'message' }

test.each<[order: string, options: Partial<ReplayOptions>]>([
  ['one at a time', {}],
  ['as recorded', { ordering: { kind: 'correlated' } }],
])(
  'a step waits for the response of a request that got none when it was recorded, with messages %s',
  async (_, options) => {
    const { target } = searches(true)
    const { at, controller, run } = debug({ target, ...options }, stopAtFirst, LOST)
    expect(await at()).toBe('#2 request (entry)')
    expect(await at(STEP)).toBe('#3 request (step)')
    expect(await at(MESSAGE)).toBe('#3 response (step)')
    expect(controller.show()).toMatchObject({
      state: 'done',
      response: expect.stringContaining('"two"'),
      recordedResponse: undefined,
      findings: [{ layer: 'transport', level: 'skip', message: 'no response was recorded' }],
    })
    expect(await at(MESSAGE)).toBe('#4 request (step)')
    expect(await at(BACK)).toBe('#3 request (back)')
    expect(await at({ type: 'stepBack', unit: 'message' })).toBe('#2 response (back)')
    expect(await at(RESUME)).toBe('done')
    expect((await run.report).summary).toMatchObject({ sent: 3, verdict: 'pass' })
  },
)

test('a request that got no response when it was recorded and gets none now has a time limit', async () => {
  const { target, heard } = searches(false)
  const { at, controller, run } = debug({ target, timeout: 50 }, stopAtFirst, LOST)
  await at()
  expect(await at(STEP)).toBe('#3 request (step)')
  expect(await at(MESSAGE)).toBe('#3 response (step)')
  expect(heard.length).toBe(2)
  expect(controller.show()).toMatchObject({
    state: 'done',
    why: 'no answer within 50 ms; the tape has none either',
    findings: [],
  })
  expect(await at(RESUME)).toBe('done')
  expect((await run.report).summary).toMatchObject({ sent: 3, verdict: 'pass' })
})

test('breakpoints and goto find the live response of a request that got none when it was recorded', async () => {
  const { target } = searches(true)
  const { at } = debug(
    { target },
    (one) => {
      stopAtFirst(one)
      one.addBreakpoint({ filter: '#3 status:ok' })
    },
    LOST,
  )
  await at()
  expect(await at(RESUME)).toBe('#3 response (breakpoint)')
  expect(await at({ type: 'seek', exchange: 4 })).toBe('#4 request (seek)')
  expect(await at({ type: 'seek', exchange: 3 })).toBe('#3 request (back)')
  expect(await at({ type: 'reverse' })).toBe('#2 request (back)')
  expect(await at(RESUME)).toBe('#3 response (back)')
})

test('the last request is awaited too, and the user can send messages after it', async () => {
  const tape = tapeOf(...HANDSHAKE, client(callOf(1, 'search', { q: 'b' })))
  const { target } = searches(true)
  const { at, controller } = debug({ target }, stopAtFirst, tape)
  await at()
  expect(await at(MESSAGE)).toBe('#2 response (step)')
  expect(controller.show()).toMatchObject({ response: expect.stringContaining('"two"') })
  expect(await controller.resend()).toMatchObject({ response: expect.stringContaining('"two"') })
  expect(await at(MESSAGE)).toBe('end (end)')
  const injected = await controller.inject(callOf(9, 'search', { q: 'c' }))
  expect(injected).toMatchObject({ response: expect.stringContaining('"three"') })
})

test('a request that the tape cancels stays open while the next messages are sent', async () => {
  const { target, heard } = searches(false)
  const { at, controller, run } = debug({ target }, stopAtFirst, CANCELLED)
  await at()
  expect(await at({ type: 'seek', exchange: 3 })).toBe('#3 request (seek)')
  expect(await at(MESSAGE)).toBe('#undefined request (step)')
  expect(controller.state().open).toMatchObject([{ exchange: 3, tool: 'search' }])
  expect(controller.show(3)).toMatchObject({ isNext: false, state: undefined, why: 'it has not arrived yet' })
  expect(await at({ type: 'seek', exchange: 3 })).toBe('#3 request (back)') // looks back, and sends nothing
  expect(heard.length).toBe(2)
  await expect(controller.resend()).rejects.toThrow('the message has no response yet')
  expect(() => controller.modify({ kind: 'skip' })).toThrow('the message has no response yet')
  expect(await at(STEP)).toBe('#undefined request (step)')
  expect(await at(STEP)).toBe('#4 request (step)')
  expect(controller.state().open).toEqual([])
  expect(await at(RESUME)).toBe('done')
  expect((await run.report).summary).toMatchObject({ sent: 4, verdict: 'pass' })
})

test('a change applies to the message that is shown: one that waits is sent with it, an earlier one is sent again', async () => {
  const { at, controller, live } = debug({}, stopAtFirst)
  const change = { type: 'modify', action: { kind: 'set', path: 'params.arguments.q', value: 'word 3' } }
  await at()
  await at(STEP)
  expect(await at(MESSAGE)).toBe('#3 response (step)')
  expect(await controller.execute(change)).toMatchObject({ exchange: 3, isNext: false, isEdited: true })
  expect(controller.show()).toMatchObject({ isEdited: false })
  expect(await controller.execute({ type: 'resend' })).toMatchObject({
    sent: expect.stringContaining('word 3'),
  })
  expect(await controller.execute({ type: 'resend' })).toMatchObject({
    sent: expect.stringContaining('word 3'),
  })
  expect(await at(MESSAGE)).toBe('#4 request (step)')
  expect(await controller.execute(change)).toMatchObject({ exchange: 4, isNext: true, isEdited: true })
  expect(await at(BACK)).toBe('#3 request (back)')
  await controller.execute(change)
  expect(controller.show(4)).toMatchObject({ isEdited: true })
  await controller.execute({ type: 'modify', index: 3, action: { kind: 'reset' } })
  expect(await controller.execute({ type: 'resend' })).toMatchObject({
    sent: expect.stringContaining('word 2'),
  })
  expect(() => controller.modify({ kind: 'skip' }, 6)).toThrow('the message is not the next one')
  expect(() => controller.modify({ kind: 'skip' }, 3)).toThrow('the message was already sent')
  await at(STEP)
  expect(await at(STEP)).toBe('#5 request (step)')
  expect(JSON.stringify(live.heard.at(-1))).toContain('word 3')
})

test('the next message can be changed while the run is stopped after a response', async () => {
  const { at, controller, live } = debug({}, stopAtFirst)
  await at()
  await at(STEP)
  expect(await at(MESSAGE)).toBe('#3 response (step)')
  controller.modifyNext({ kind: 'set', path: 'params.arguments.q', value: 'changed' })
  expect(await at(STEP)).toBe('#4 request (step)')
  expect(controller.show()).toMatchObject({ isEdited: true })
  await at(STEP)
  expect(JSON.stringify(live.heard.at(-1))).toContain('changed')
})

test('the speed changes while messages wait for their time', async () => {
  const { controller, at } = debug({ timing: { kind: 'fixed', delay: 60_000 } })
  await expect(controller.execute({ type: 'speed', speed: 'soon' })).rejects.toThrow('invalid speed "soon"')
  await controller.execute({ type: 'speed', speed: 'fast' })
  expect(await at()).toBe('done')
})

test('a run that is stopped at a message ends at once if it is stopped', async () => {
  const { at, live, run } = debug({}, stopAtFirst)
  await at()
  expect(await at({ type: 'stop' })).toBe('stopped')
  expect((await run.report).summary).toMatchObject({ sent: 0, verdict: 'incomplete' })
  expect(live.heard).toEqual([])
  await expect(at(STEP)).rejects.toThrow('and this one is stopped')
})

test.each<[command: unknown, problem: string]>([
  ['step', 'it is not an object'],
  [{ type: 'stepp' }, 'unknown type "stepp"; did you mean step?'],
  [{ type: 'seek' }, 'seek needs one of index, exchange, frame, time and percent'],
  [{ type: 'seek', index: -1 }, 'seek needs index to be of another type'],
  [{ type: 'speed' }, 'speed needs speed'],
  [{ type: 'addBreakpoint', filtr: 'a' }, 'addBreakpoint has no member filtr; did you mean filter?'],
  [{ type: 'modifyNext', action: { kind: 'set' } }, 'modifyNext needs action to be of another type'],
  [{ type: 'constructor' }, 'unknown type "constructor"'],
])('the command %j is refused', async (command, problem) => {
  await expect(new ReplayController().execute(command)).rejects.toThrow(problem)
})

test.each<[spec: Omit<Breakpoint, 'id' | 'hitCount' | 'phase'> & { phase?: string }, problem: string]>([
  [{ filter: 'result.total >' }, 'cannot read the filter'],
  [{ hits: 'often' }, 'invalid hit count "often"'],
  [{ filter: 'status:error', phase: 'request' }, 'the breakpoint depends on the response'],
])('the breakpoint %j is refused', async (spec, problem) => {
  await expect(new ReplayController().execute({ type: 'addBreakpoint', ...spec })).rejects.toThrow(problem)
})
