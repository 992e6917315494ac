import { mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { called, foundIn, session } from '../../../test/support/against-tape.ts'
import { client, server, type Said } from '../../../test/support/tape-of.ts'
import { formatPath } from '../../json/path.ts'
import { replaySummaryText } from '../../report/replay.ts'
import { replayTransport } from '../../serve/replay-transport.ts'
import type { Tape } from '../../store/file/read.ts'
import type { ReplayTarget } from '../options.ts'
import { replayRepeatedly } from '../repeat/repeat.ts'
import type { RepeatedReport } from '../repeat/repeated-report.ts'
import { transportTarget } from '../targets.ts'
import { learnNoise, type LearnedProfile } from './learn-noise.ts'
import type { NoiseProfile } from './noise-profile.ts'
import { readNoiseProfile, writeNoiseProfile } from './profile-file.ts'

interface Answers {
  readonly id?: unknown
  readonly tags?: readonly string[]
  readonly price?: number
  readonly took?: string
  readonly more?: object
}

const TAGS = ['red', 'green', 'blue', 'white']
const UUIDS = Array.from({ length: 20 }, (_, n) => `0000000${n % 10}-1111-4222-8333-44444444${n + 1000}`)

/** A session with three calls of `get`, which return a new id, one call that returns a set, and one that returns a price. */
function shop(n: number, { id, tags, price = 10, took = `took ${n + 3} ms`, more }: Answers = {}): Tape {
  const turned = [...TAGS.slice(n % 4), ...TAGS.slice(0, n % 4)]
  const said: readonly Said[] = [
    ...called(1, 'get', { key: 'a' }, { id: id ?? UUIDS[n] }),
    ...called(2, 'get', { key: 'b' }, { id: UUIDS[n + 7], text: took }),
    ...called(3, 'tags', {}, { tags: tags ?? turned }),
    ...called(4, 'price', {}, { price, ...(more !== undefined && { more }) }),
  ]
  return inFolder(session(...said))
}

const folder = mkdtempSync(join(tmpdir(), 'reelay-noise-'))

function inFolder(tape: Tape): Tape {
  return { ...tape, path: join(folder, 'shop.tape.jsonl') }
}

/** A server that answers as another tape in each run, and as the last one in all further runs. */
function serverOf(lives: readonly Tape[]): ReplayTarget {
  let run = 0
  return transportTarget(() =>
    replayTransport(lives[Math.min(run++, lives.length - 1)] ?? shop(0), { drift: 'ignore' }),
  )
}

function learned(
  tape: Tape,
  lives: readonly Tape[],
  allowWrites = true,
): Promise<LearnedProfile | undefined> {
  // With --before-run, differences are never taken for kept state.
  const options = { runs: lives.length, beforeRun: async () => {} }
  return learnNoise(tape, { target: serverOf(lives), allowWrites }, options)
}

function verified(noise: NoiseProfile, ...lives: readonly Tape[]): Promise<RepeatedReport> {
  return replayRepeatedly(shop(0), { target: serverOf(lives), allowWrites: true }, { repeat: 3, noise })
}

let profile: NoiseProfile
let file: string

// The profile is used as it is read from its file, so that every test also shows what the file keeps.
beforeAll(async () => {
  const lives = [1, 2, 3, 4].map((n) => shop(n))
  const found = await learned(shop(0), lives)
  if (found === undefined) throw new Error('nothing was learned')
  file = await writeNoiseProfile(shop(0), found.profile)
  const stored = readNoiseProfile(shop(0))
  if (stored === undefined) throw new Error('there is no profile')
  profile = stored.profile
}, 60_000)

test('a profile is readable, private, and lists what all calls of a tool have in common once', () => {
  const text = readFileSync(file, 'utf8').replace(/learned: .+/, 'learned: NOW')
  expect(text).toMatchInlineSnapshot(`
    "# What varies in the responses of the known-good server to the requests of the tape of this name.
    # Written by: reelay learn. Used by: reelay verify. Reviewed with: reelay noise show, accept, forget.

    reelayNoise: 1
    tape: made-up
    learned: NOW
    runs: 4
    unlearned: [ 1 ]
    calls:
      - call: tools/call get
        exchanges: [ 2, 3 ]
        noise:
          - path: result.structuredContent.id
            varies: value
            class: { is: uuid, versions: [ "4" ] }
            seen: { values: 4, runs: 4 }
            samples:
              - 00000001-1111-4222-8333-444444441001
              - 00000002-1111-4222-8333-444444441002
              - 00000003-1111-4222-8333-444444441003
    exchanges:
      - exchange: 3
        call: tools/call get
        arguments: '{"key":"b"}'
        noise:
          - path: result.structuredContent.text
            varies: value
            class: { is: text, parts: [ "took ", { is: number, from: 4, to: 7, integer: true, text: true }, " ms" ] }
            seen: { values: 4, runs: 4 }
            samples: [ took 4 ms, took 5 ms, took 6 ms ]
      - exchange: 4
        call: tools/call tags
        arguments: "{}"
        noise:
          - path: result.structuredContent.tags
            varies: order
            seen: { values: 4, runs: 4 }
    "
  `)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('an unchanged server passes in a single run', async () => {
  const report = await verified(profile, shop(5))
  expect(foundIn(report)).toEqual([])
  expect(report).toMatchObject({ runs: 1, summary: { verdict: 'pass' } })
  expect(report.noise.map(({ path, isFromProfile }) => [path, isFromProfile])).toEqual([
    ['result.structuredContent.id', true],
    ['result.structuredContent.text', true],
    ['result.structuredContent.tags', true],
  ])
})

test.each<[string, Answers, string]>([
  ['an id that is no uuid', { id: 'none' }, 'structuredContent.id changed; the noise profile expects: uuid'],
  [
    'a text with other words',
    { took: 'failed after 4 ms' },
    'the noise profile expects: text "took <integer',
  ],
  ['an item lost from a set', { tags: ['blue', 'red', 'white'] }, 'tags[1] is missing ["green",null]'],
  ['a stable value', { price: 11 }, 'price done values result.structuredContent.price changed [10,11]'],
])('a change at or beside a noisy place is found: %s', async (_, answers, found) => {
  const report = await verified(profile, shop(5, answers), shop(6, answers), shop(7, answers))
  expect(report.summary.verdict).toBe('fail')
  expect(foundIn(report).join('\n')).toContain(found)
})

test('an id that is new in each run of the profile must not be the same in all runs', async () => {
  const stuck = [5, 6, 7].map((n) => shop(n, { id: UUIDS[19] }))
  const report = await replayRepeatedly(
    shop(0),
    { target: serverOf(stuck), allowWrites: true },
    { repeat: 3, always: true, noise: profile },
  )
  expect(foundIn(report)).toEqual([
    expect.stringContaining('id is the same in all runs, but another one in each run of the noise profile'),
  ])
  expect(report.summary.verdict).toBe('fail')
})

test('a member that is new in every run is new, also if its value varies', async () => {
  const lives = [1, 2, 3].map((n) => shop(n, { more: { trace: UUIDS[n + 3] } }))
  expect(foundIn(await verified(profile, ...lives))).toEqual([
    expect.stringMatching(/^price done values result.structuredContent.more is new /),
  ])
})

test('a value that varies in this server, but not in the profile, is newly unstable and fails', async () => {
  const lives = [17, 4711, 99].map((price, n) => shop(n + 1, { price }))
  const report = await verified(profile, ...lives)
  expect(report.summary.verdict).toBe('fail')
  expect(foundIn(report)).toEqual([
    'price done values result.structuredContent.price is newly unstable: it varies from run to run, but not in the noise profile [10,17]',
  ])
  const without = await replayRepeatedly(
    shop(0),
    { target: serverOf(lives), allowWrites: true },
    { repeat: 3 },
  )
  expect(without.noise.map(({ path }) => path)).toContain('result.structuredContent.price')
})

test('the judgement of an exchange is explained: values of each run, verdict, and what decided', async () => {
  const lives = [5, 6, 7].map((n) => shop(n, { took: `broke ${n} ms` }))
  const target = serverOf(lives)
  const runs = { repeat: 3, noise: profile, explain: 3 }
  const report = await replayRepeatedly(shop(0), { target, allowWrites: true }, runs)
  const text = replaySummaryText(report)
  expect(text.slice(text.indexOf('explained:'), text.indexOf('3 of 4 responses'))).toMatchInlineSnapshot(`
    "explained: #3 tools/call get
      result.structuredContent.id
        recorded  "00000007-1111-4222-8333-444444441007"
        run 1     "00000002-1111-4222-8333-444444441012"
        run 2     "00000003-1111-4222-8333-444444441013"
        run 3     "00000004-1111-4222-8333-444444441014"
        noise: the noise profile has uuid at result.structuredContent.id (from the noise profile)
      result.structuredContent.text
        recorded  "took 3 ms"
        run 1     "broke 5 ms"
        run 2     "broke 6 ms"
        run 3     "broke 7 ms"
        difference: changed; the noise profile expects: text "took <integer from 4 to 7> ms"
    "
  `)
  const ignoring = await replayRepeatedly(
    shop(0),
    { target: serverOf(lives), allowWrites: true, ignore: ['result.structuredContent'] },
    { repeat: 1, explain: 3 },
  )
  expect(ignoring.explained?.differences.map(({ verdict, by }) => `${verdict} ${by}`)).toEqual([
    'noise option',
    'noise option',
  ])
})

test('an exchange that was not learned is judged as without a profile', async () => {
  const partly = { ...profile, unlearned: new Set([...profile.unlearned, 5]) }
  const report = await verified(partly, ...[17, 14, 19].map((price, n) => shop(n + 1, { price })))
  expect(foundIn(report)).toEqual([])
})

function notes(n: number, id: string): Tape {
  const all = Array.from({ length: n }, (_, at) => `note ${at}`)
  return inFolder(
    session(
      ...called(1, 'add', {}, { count: n, id }),
      ...called(2, 'list', {}, { notes: all }),
      ...called(3, 'once', {}, { created: n === 2 }),
    ),
  )
}

test('what differs only because the server kept what earlier runs wrote is not noise', async () => {
  const lives = [2, 3, 4, 5].map((n) => notes(n, UUIDS[(n * 7) % 20] ?? ''))
  const target = serverOf(lives)
  const found = await learnNoise(notes(1, UUIDS[0] ?? ''), { target, allowWrites: true }, { runs: 4 })
  expect(found?.keptState.map(({ path, why }) => `${path}: ${why}`)).toEqual([
    'result.structuredContent.count: it grows by the same amount in every run',
    'result.structuredContent.notes[*]: the list grows in every run',
    'result.structuredContent.created: it differs only in the first run',
  ])
  expect(
    found?.profile.exchanges.flatMap(({ places }) => places.map(({ classes }) => classes[0]?.text)),
  ).toEqual(['uuid'])
  const restored = await learned(notes(1, UUIDS[0] ?? ''), lives)
  expect(restored?.keptState).toEqual([])
})

/** A call with a report of progress. */
function slow(message: string): Tape {
  const params = { name: 'slow', arguments: {}, _meta: { progressToken: 'p' } }
  return inFolder(
    session(
      client({ id: 1, method: 'tools/call', params }),
      server({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1, message } }),
      server({ id: 1, result: { content: [] } }),
    ),
  )
}

test('notifications have noise too', async () => {
  const tape = slow(`step ${UUIDS[0]}`)
  const lives = [3, 9, 4, 17].map((n) => slow(`step ${UUIDS[n]}`))
  const found = await learned(tape, lives)
  const places = found?.profile.exchanges.flatMap((one) => one.places) ?? []
  expect(places.map(({ path, classes }) => `${formatPath(path)}: ${classes[0]?.text}`)).toEqual([
    'notifications[0].params.message: text "step <uuid>"',
    'lastProgress.message: text "step <uuid>"',
  ])
  const play = (live: string): Promise<RepeatedReport> =>
    replayRepeatedly(
      tape,
      { target: serverOf([slow(live)]), allowWrites: true },
      { repeat: 3, ...(found && { noise: found.profile }) },
    )
  expect(await play(`step ${UUIDS[12]}`)).toMatchObject({ runs: 1, summary: { verdict: 'pass' } })
  expect((await play(`oops ${UUIDS[12]}`)).summary.verdict).toBe('fail')
})

test('what every run does in another way than the tape is not noise, and a call that fails sometimes is not learned', async () => {
  const lives = [1, 2, 3, 4].map((n) => shop(n, { price: 12 }))
  const found = await learned(shop(0), lives)
  expect(found?.differences.map(({ path, why }) => `${path}: ${why}`)).toEqual([
    'result.structuredContent.price: changed: recorded 10, now 12',
  ])
  const held = await learned(shop(0), [shop(1)], false)
  expect(held?.unlearned[0]).toMatchObject({
    request: { exchange: 2 },
    why: 'held: the tool is not marked as read-only',
  })
})

test('a profile of another recording, or with another request in its place, is stale', () => {
  const again = { ...shop(0), header: { ...shop(0).header, id: 'another' } }
  expect(readNoiseProfile(again)?.stale).toBe('the tape was recorded again')
  const edited = join(folder, 'edited.noise.yaml')
  writeFileSync(edited, readFileSync(file, 'utf8').replace('exchange: 4', 'exchange: 5'))
  expect(readNoiseProfile(shop(0), { path: edited })?.stale).toBe('#5 of the tape is not tools/call tags')
})

test('a profile is not written through a symbolic link', async () => {
  const link = join(folder, 'link.noise.yaml')
  symlinkSync(join(folder, 'target'), link)
  writeFileSync(join(folder, 'target'), 'mine')
  await expect(writeNoiseProfile(shop(0), profile, { path: link })).rejects.toThrow('it is a symbolic link')
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('mine')
})

test.each([
  ['exchanges: [', 'line 1, column 13: Flow sequence'],
  [
    'reelayNoise: 2\ntape: x',
    'line 1, column 14: "reelayNoise" is not a noise profile that this version can read',
  ],
  ['reelayNoise: 1', 'has no "tape"'],
  ['reelayNoise: 1\ntape: made-up\nrules: []', 'line 3, column 1: "rules" is unknown'],
  [
    'reelayNoise: 1\ntape: made-up\nexchanges:\n  - exchange: 6\n    noise:\n      - path: a..b\n        varies: value',
    'line 6, column 15',
  ],
  [
    'reelayNoise: 1\ntape: made-up\nexchanges:\n  - exchange: 6\n    noise:\n      - path: a\n        varies: mood',
    'line 7, column 17',
  ],
  [
    'reelayNoise: 1\ntape: made-up\nexchanges:\n  - exchange: 6\n    noise:\n      - path: a\n        varies: value\n        class: { is: regex }',
    'line 8, column 22: "exchanges[0].noise[0].class.is" is not one of uuid, time',
  ],
])('an invalid profile is rejected with its line: %j', (text, why) => {
  const path = join(folder, 'invalid.noise.yaml')
  writeFileSync(path, text)
  expect(() => readNoiseProfile(shop(0), { path })).toThrow(why)
})
