import { expect, test } from 'vitest'
import { against, againstRuns, session } from '../../../test/support/against-tape.ts'
import { answerOf, call, client, ENVELOPE, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import { META_KEYS } from '../../protocol/message.ts'
import type { Tape } from '../../store/file/read.ts'
import { replayTransport } from '../../serve/replay-transport.ts'
import { learnNoise } from '../noise/learn-noise.ts'
import type { NoiseProfile } from '../noise/noise-profile.ts'
import type { ReplayOptions } from '../options.ts'
import { transportTarget } from '../targets.ts'
import type { RepeatedReport } from '../repeat/repeated-report.ts'
import type { ReplayReport } from '../report.ts'

const LOG = { level: 'info', logger: 'db', data: { rows: 3 } }
const CHANGED = server({ method: 'notifications/tools/list_changed' })

test.concurrent.each<[string, readonly Said[], readonly string[]]>([
  [
    'another message',
    [progress(1, 'start'), progress(2, 'oops'), progress(3, 'end')],
    ['error notifications[1].params.message changed'],
  ],
  [
    'another total',
    [progress(1, 'start'), progress(2, 'half', 4), progress(3, 'end')],
    ['error notifications[1].params.total changed'],
  ],
  [
    'another number',
    [progress(1, 'start'), progress(2.5, 'half'), progress(3, 'end')],
    ['error notifications[1].params.progress changed'],
  ],
  ['one report less', [progress(1, 'start'), progress(3, 'end')], ['error notifications[1] is missing']],
  [
    'one report more',
    [progress(1, 'start'), progress(2, 'half'), progress(2.5, 'more'), progress(3, 'end')],
    ['error notifications[2] is new'],
  ],
  [
    'an end that comes too early',
    [progress(1, 'start'), progress(2, 'half')],
    ['error notifications[2] is missing', 'error lastProgress.progress changed'],
  ],
  [
    'numbers that no longer increase',
    [progress(1, 'start'), progress(1, 'half'), progress(3, 'end')],
    [
      'error notifications[1].params.progress changed',
      'error notifications[1].params.progress the progress no longer increases',
    ],
  ],
  ['no report at all', [], [0, 1, 2].map((place) => `error notifications[${place}] is missing`)],
])('in the progress of a request, %s is found', async (_, live, found) => {
  const recorded = [progress(1, 'start'), progress(2, 'half'), progress(3, 'end')]
  const report = await played(exchange(...recorded), exchange(...live))
  expect(foundIn(report).filter((one) => !one.includes('lastProgress.message'))).toEqual(found)
})

test.concurrent.each<[string, readonly Said[], readonly string[]]>([
  [
    'its level',
    [log({ ...LOG, level: 'error' })],
    ['error connection.frame-5.params.level of notifications/message changed'],
  ],
  [
    'its logger',
    [log({ ...LOG, logger: 'web' })],
    ['error connection.frame-5.params.logger of notifications/message changed'],
  ],
  [
    'its data',
    [log({ ...LOG, data: { rows: 4 } })],
    ['error connection.frame-5.params.data.rows of notifications/message changed'],
  ],
  ['its loss', [], ['error connection.frame-5 notifications/message is missing']],
  [
    'another one',
    [log(LOG), log({ level: 'info', data: 'more' })],
    ['error connection.new-1 notifications/message is new'],
  ],
  ['the same once more', [log(LOG), log(LOG)], ['error connection.new-1 notifications/message is new']],
  [
    'word of changed tools',
    [log(LOG), CHANGED],
    ['error connection.new-1 notifications/tools/list_changed is new'],
  ],
])('of a log message, %s is found', async (_, live, found) => {
  expect(foundIn(await played(exchange(log(LOG)), exchange(...live)))).toEqual(found)
})

test.concurrent.each<[string, readonly Said[], readonly string[]]>([
  [
    'another resource',
    [updated('file:///a'), updated('file:///c')],
    ['error connection.frame-6.params.uri.path[0] of notifications/resources/updated changed'],
  ],
  [
    'a lost update',
    [updated('file:///b')],
    ['error connection.frame-5 notifications/resources/updated is missing'],
  ],
  [
    'one more',
    [updated('file:///a'), updated('file:///b'), updated('file:///a')],
    ['error connection.new-1 notifications/resources/updated is new'],
  ],
])('of updated resources, %s is found', async (_, live, found) => {
  const recorded = exchange(updated('file:///a'), updated('file:///b'))
  expect(foundIn(await played(recorded, exchange(...live)))).toEqual(found)
})

test.concurrent('the order of messages that belong to no request does not count, nor whether they come before or after an answer', async () => {
  const recorded = session(...asked(1, log(LOG), updated('file:///a')), ...asked(2, CHANGED))
  const live = session(...asked(1, updated('file:///a')), log(LOG), CHANGED, ...asked(2))
  expect(foundIn(await against(live, recorded))).toEqual([])
})

test.concurrent('a message with the time of the run is as recorded, and is kept for learning', async () => {
  const now = new Date().toISOString()
  const report = await played(exchange(doneAt('2026-11-15T00:00:00.000Z')), exchange(doneAt(now)))
  expect(foundIn(report)).toEqual([])
  expect(JSON.parse(report.steps.at(-1)?.notifications ?? '')).toMatchObject({
    connection: { 'frame-5': { method: 'notifications/message', params: { data: `done at ${now}` } } },
  })
})

test.concurrent('a message that a timer had sent and that does not come in a fast run is a warning', async () => {
  const recorded = late(5000, session(...call(1, 'search', {}, 'x'), log(LOG)))
  const live = session(...call(1, 'search', {}, 'x'))
  const lost = 'notifications/message is missing, which was recorded after a pause of 5.0 s'
  expect(foundIn(await against(live, recorded))).toEqual([`warn connection.frame-6 ${lost}`])
  const strict = await against(live, recorded, { strict: true })
  expect(foundIn(strict)).toEqual([`error connection.frame-6 ${lost}`])
})

test.concurrent('a change that was recorded late, because the machine stood still, is missed if it does not come', async () => {
  const said = session(...call(1, 'search', {}, 'x'), CHANGED)
  const recorded = late(1600, said)
  expect(foundIn(await against(session(...call(1, 'search', {}, 'x')), recorded))).toEqual([
    'error connection.frame-6 notifications/tools/list_changed is missing',
  ])
  expect(foundIn(await against(said, recorded))).toEqual([])
})

test.concurrent.each<[string, Partial<ReplayOptions>]>([
  [
    'the path of one message',
    { ignore: ['connection.frame-5.params.level', 'notifications[0].params.message'] },
  ],
  ['the path of all messages', { ignore: ['notifications[*]'] }],
  ['names of fields', { ignoreFields: ['level', 'message'] }],
  ['no comparison', { validate: false }],
])('what is ignored: %s', async (_, options) => {
  const recorded = exchange(log(LOG), progress(1, 'start'))
  const live = exchange(log({ ...LOG, level: 'error' }), progress(1, 'oops'))
  expect(foundIn(await against(live, recorded, options))).toEqual([])
  expect(foundIn(await played(recorded, live))).toHaveLength(2)
})

test.concurrent('a message that belongs to a request that is not sent is not missed', async () => {
  const recorded = session(...asked(1, log(LOG)), ...call(2, 'count', {}, 'x'))
  const live = session(...asked(1), ...call(2, 'count', {}, 'x'))
  expect(foundIn(await against(live, recorded, { exclude: ['tools/call:search'] }))).toEqual([])
})

test.concurrent('a resource whose name the live server made up is the recorded one', async () => {
  const [recorded, live] = ['3f2504e0-4f89-41d3-9a0c-0305e82c3301', '7d444840-9dc0-11d1-b245-5ffdce74fad2']
  expect(foundIn(await against(named(live), named(recorded)))).toEqual([])
})

test.concurrent('the number of reports is noise if two runs disagree, and how far they come is not', async () => {
  const recorded = exchange(progress(1, 'a'), progress(2, 'b'), progress(3, 'c'))
  const run = (lives: readonly Tape[]): Promise<RepeatedReport> => againstRuns(lives, recorded)
  const fewer = exchange(progress(1, 'a'), progress(3, 'c'))
  const more = exchange(progress(1, 'a'), progress(2, 'b'), progress(2.5, 'b'), progress(3, 'c'))
  expect((await run([fewer, fewer, fewer])).summary.verdict).toBe('fail')
  expect(foundIn(await run([fewer, more, fewer]))).toEqual([])
  const stopped = exchange(progress(1, 'a'), progress(2, 'b'))
  const stoppedEarlier = exchange(progress(2, 'b'))
  expect(foundIn(await run([stopped, stoppedEarlier, stopped]))).toContain(
    'error lastProgress.progress changed',
  )
})

/** The same session, with the notifications this many milliseconds later. */
function late(milliseconds: number, said: Tape): Tape {
  const turns = said.turns.map((turn) => ({
    ...turn,
    steps: turn.steps.map((step) =>
      step.kind === 'notify'
        ? { ...step, message: { ...step.message, t: step.message.t + milliseconds } }
        : step,
    ),
  }))
  return { ...said, turns }
}

const LEVELS = ['debug', 'notice', 'warning', 'critical', 'alert', 'info', 'error']

test.concurrent('a log message that is chosen at random is noise, and one that changes once is not', async () => {
  expect(foundIn(await againstLevels(...LEVELS))).toEqual([])
  expect(foundIn(await againstLevels('debug', 'debug', 'debug', 'debug', 'alert'))).toEqual([])
  const changed = await againstLevels('debug')
  expect(changed).toMatchObject({ summary: { verdict: 'fail' }, runs: 7 })
  expect(foundIn(changed)[0]).toBe('error connection.frame-5.params.level of notifications/message changed')
  expect(foundIn(await againstLevels('loud', 'quiet', 'soft'))[0]).toMatch(/^schema error/)
})

test.concurrent('the number of similar messages is noise if runs disagree about it, but not that a different one comes', async () => {
  const ticks = (count: number, ...more: readonly Said[]): Tape =>
    exchange(...Array.from({ length: count }, (_, n) => log({ level: 'info', data: `tick ${n}` })), ...more)
  const run = (...lives: readonly Tape[]): Promise<RepeatedReport> =>
    againstRuns(lives, ticks(3), { repeat: 3 })
  expect(foundIn(await run(ticks(4), ticks(4), ticks(5)))).toEqual([])
  expect((await run(ticks(3), ticks(4), ticks(4))).summary.verdict).toBe('pass')
  expect((await run(ticks(4))).summary.verdict).toBe('fail')
  const failing = log({ level: 'error', data: 'lost connection' })
  const noisy = await run(ticks(4, failing), ticks(2, failing), ticks(5, failing))
  expect(foundIn(noisy)[0]).toBe('error connection.new-1 notifications/message is new')
})

test.concurrent.each<[string, Tape]>([
  ['a level', exchange(log({ ...LOG, level: 'error' }))],
  ['a lost message', exchange()],
  ['a new message', exchange(log(LOG), log({ level: 'error', data: 'lost connection' }))],
])('%s that changes in every other run is flaky', async (_, changed) => {
  const recorded = exchange(log(LOG))
  const lives = [changed, recorded, changed, recorded, changed, recorded, changed]
  expect((await againstRuns(lives, recorded, { repeat: 3 })).summary.verdict).toBe('flaky')
})

test.concurrent('one report less in every other run is flaky', async () => {
  const lives = [4, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4].map(copying)
  expect((await againstRuns(lives, copying(5), { repeat: 3 })).summary.verdict).toBe('flaky')
})

test.concurrent('a subscription that grants less, and one that tells of less, are found', async () => {
  const granted = { toolsListChanged: true, promptsListChanged: true }
  const recorded = listening(granted, 'tools', 'prompts')
  expect(foundIn(await against(listening(granted, 'tools', 'prompts'), recorded))).toEqual([])
  expect(foundIn(await against(listening({ toolsListChanged: true }, 'tools', 'prompts'), recorded))).toEqual(
    [
      'error connection.frame-2.params.notifications.promptsListChanged of notifications/subscriptions/acknowledged is missing',
    ],
  )
  expect(foundIn(await against(listening(granted, 'tools'), recorded))).toEqual([
    'error connection.frame-4 notifications/prompts/list_changed is missing',
  ])
})

/** A session with a log message of a random level, as server-everything sends it. */
function randomLog(level: string): Tape {
  const data = `${level}${level === 'alert' ? ' level-' : '-level '}message`
  return exchange(log({ level, data }), log(LOG))
}

function againstLevels(...levels: readonly string[]): Promise<RepeatedReport> {
  return againstRuns(levels.map(randomLog), randomLog('emergency'), { repeat: 3 })
}

test('reports that vary in number have the recorded words, and end with the recorded ones', async () => {
  const [same, otherWord, otherEnd] = await Promise.all([
    againstLoading('Loading', 'Done'),
    againstLoading('Storing', 'Done'),
    againstLoading('Loading', 'Failed'),
  ])
  expect(foundIn(same)).toEqual([])
  expect(otherWord.summary.verdict).toBe('fail')
  expect(otherEnd.summary.verdict).toBe('fail')
  expect(foundIn(otherEnd)).toContain('error lastProgress.message changed')
})

/** A session with a number of similar reports and another one at its end. */
function loading(count: number, word = 'Loading', end = 'Done'): Tape {
  const parts = Array.from({ length: count }, (_, n) => progress(n + 1, `${word} part ${n + 1}`, 9))
  return exchange(...parts, progress(9, end, 9))
}

/** Verifies a server that reports another number of parts in each run. */
function againstLoading(word: string, end: string): Promise<RepeatedReport> {
  const lives = [5, 3, 6, 4, 7, 5, 3, 4, 6, 3, 5].map((count) => loading(count, word, end))
  return againstRuns(lives, loading(4), { repeat: 3 })
}

/** A session with a number of equal reports. */
function copying(count: number): Tape {
  return exchange(...Array.from({ length: count }, (_, n) => progress(n + 1, 'copying', 9)))
}

function doneAt(time: string): Said {
  return log({ level: 'info', data: `done at ${time}` })
}

/** A session with an update of a resource that the server named. */
function named(id: string): Tape {
  return session(
    ...call(1, 'search', {}, `note://${id}`),
    client({ id: 2, method: 'resources/subscribe', params: { uri: `note://${id}` } }),
    updated(`note://${id}`),
    server({ id: 2, result: {} }),
  )
}

/** A modern session that subscribes to changes. */
function listening(notifications: object, ...changed: readonly string[]): Tape {
  const _meta = { [META_KEYS.subscriptionId]: 'L1' }
  return tapeOf(
    client({ id: 'L1', method: 'subscriptions/listen', params: { _meta: ENVELOPE, notifications: {} } }),
    server({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } }),
    ...changed.map((what) => server({ method: `notifications/${what}/list_changed`, params: { _meta } })),
    client({ id: 2, method: 'tools/call', params: { _meta: ENVELOPE, name: 'search', arguments: {} } }),
    server({ id: 2, result: { resultType: 'complete', content: [] } }),
  )
}

/** A session with one call, and what the server says before it answers. */
test('notifications that vary from run to run, but not in the noise profile, are newly unstable', async () => {
  const tape = exchange(log({ ...LOG, data: { rows: 'd0c9-04' } }))
  const logs = ['a7f3-01', 'b8e2-02', 'c9d1-03'].map((id) => exchange(log({ ...LOG, data: { rows: id } })))
  const [steady, varying] = await Promise.all([profileOf(tape, [tape, tape, tape]), profileOf(tape, logs)])
  const [newly, known] = await Promise.all([
    againstRuns(logs, tape, { noise: steady }),
    againstRuns(logs, tape, { noise: varying }),
  ])
  expect(foundIn(newly)).toEqual([
    'error connection.frame-5.params.data.rows is newly unstable: it varies from run to run, but not in the noise profile',
  ])
  expect([newly.summary.verdict, known.summary.verdict]).toEqual(['fail', 'pass'])
})

test('notifications that differ between two recordings are noise', async () => {
  const logged = (id: string): Tape => exchange(progress(1, id), log({ ...LOG, data: { rows: id } }))
  const [tape, baseline, live] = [logged('a7f3-01'), logged('b8e2-02'), logged('c9d1-03')]
  const [alone, beside] = await Promise.all([
    againstRuns([live], tape),
    againstRuns([live], tape, { baseline }),
  ])
  expect([alone.summary.verdict, beside.summary.verdict]).toEqual(['fail', 'pass'])
  const changed = exchange(progress(1, 'c9d1-03'), log({ ...LOG, level: 'error', data: { rows: 'c9d1-03' } }))
  expect(foundIn(await againstRuns([changed], tape, { baseline }))).toEqual([
    'error connection.frame-6.params.level of notifications/message changed',
  ])
})

async function profileOf(tape: Tape, lives: readonly Tape[]): Promise<NoiseProfile> {
  let run = 0
  const target = transportTarget(() => replayTransport(lives[run++] ?? tape, { drift: 'ignore' }))
  const options = { runs: lives.length, beforeRun: async () => {} }
  const learned = await learnNoise(tape, { target, allowWrites: true }, options)
  if (learned === undefined) throw new Error('nothing was learned')
  return learned.profile
}

function exchange(...said: readonly Said[]): Tape {
  return session(...asked(1, ...said))
}

function asked(id: number, ...said: readonly Said[]): readonly Said[] {
  const params = { name: 'search', arguments: { id }, _meta: { progressToken: 'p' } }
  return [client({ id, method: 'tools/call', params }), ...said, server(answerOf(id, 'x'))]
}

function progress(value: number, message: string, total = 3): Said {
  const params = { progressToken: 'p', progress: value, total, message }
  return server({ method: 'notifications/progress', params })
}

function log(params: object): Said {
  return server({ method: 'notifications/message', params })
}

function updated(uri: string): Said {
  return server({ method: 'notifications/resources/updated', params: { uri } })
}

function played(tape: Tape, live: Tape): Promise<ReplayReport> {
  return against(live, tape)
}

function foundIn({ steps }: Pick<ReplayReport, 'steps'>): readonly string[] {
  return steps.flatMap(({ findings }) =>
    findings
      .filter(({ layer }) => layer !== 'timing') // the machine may be busy
      .map(({ layer, level, path, message }) =>
        [...(layer === 'notifications' ? [] : [layer]), level, path, message].join(' '),
      ),
  )
}
