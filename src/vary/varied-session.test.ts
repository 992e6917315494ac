import { expect, test } from 'vitest'
import { seededRandom } from '../seeded-random.ts'
import { readFailingSession, type FailingSession } from '../shrink/failing-session.ts'
import { loadTape } from '../store/file/read.ts'
import { VARY_OPERATORS } from './operators.ts'
import { playableSession, type VariedStep } from './varied-session.ts'

const readSession = async (): Promise<FailingSession> =>
  readFailingSession(await loadTape('test/fixtures/bindings/handles-a.tape.jsonl', 'server'), {})

/** The messages that generate and use the first value of the session. */
async function pair(): Promise<{
  readonly session: FailingSession
  readonly maker: number
  readonly user: number
}> {
  const session = await readSession()
  for (const { producer, consumers } of session.bindings.bindings)
    if (producer.kind === 'message' && session.items.includes(producer.turn))
      return { session, maker: producer.turn, user: consumers[0]?.turn ?? -1 }
  throw new Error('the tape has no bindings')
}

test('a repeated call sends the values of the nearest earlier copy, and a stale one those of the tape', async () => {
  const { session, maker, user } = await pair()
  const twice = await playableSession(session, [{ item: maker }, { item: maker }, { item: user }])
  const places = twice.tape.turns.flatMap(({ trigger }, at) =>
    trigger !== undefined && twice.stepOf.get(trigger.n)?.item === maker ? [at] : [],
  )
  expect(places).toHaveLength(2)
  expect(twice.bindings.bindings[0]?.producer).toMatchObject({ kind: 'message', turn: places[1] })
  const stale = await playableSession(session, [{ item: maker }, { item: user, hasStaleValues: true }])
  expect(stale.bindings.bindings).toEqual([])
  const early = await playableSession(session, [{ item: user }, { item: maker }])
  expect(early.bindings.bindings).toEqual([])
})

test('two sessions have a connection and values of their own, unless values are crossed', async () => {
  const { session, maker, user } = await pair()
  const steps: VariedStep[] = [1, 2].flatMap((number) => [
    { item: maker, session: number },
    { item: user, session: number },
  ])
  const { tape, bindings } = await playableSession(session, [
    ...steps,
    { item: user, session: 2, valuesOf: 1 },
  ])
  const connectionOf = (turn: number): number | undefined => tape.turns[turn]?.trigger?.conn
  const ways = bindings.bindings.flatMap(({ producer, consumers }) =>
    consumers.map(({ turn }) =>
      producer.kind === 'message' ? `${connectionOf(producer.turn)} to ${connectionOf(turn)}` : '',
    ),
  )
  expect([...new Set(ways)].toSorted()).toEqual(['1 to 1', '1 to 2', '2 to 2'])
})

test('a cancelled request is followed by its cancellation, and nobody waits for its response', async () => {
  const { session, maker } = await pair()
  const { tape } = await playableSession(session, [{ item: maker, isCancelled: true }])
  const [request, cancellation] = tape.turns.slice(-2)
  expect(request?.response).toBeUndefined()
  const id = request?.trigger?.message.kind === 'request' ? request.trigger.message.id : undefined
  expect(cancellation?.trigger?.text).toContain(`"requestId":${JSON.stringify(id)}`)
})

test.each(VARY_OPERATORS.map(({ name }) => name))(
  'the operator %s keeps a session that can be played',
  async (name) => {
    const session = await readSession()
    const operator = VARY_OPERATORS.find((each) => each.name === name)
    const asRecorded = session.items.map((item): VariedStep => ({ item }))
    for (let seed = 1; seed <= 8; seed++) {
      const varied = operator?.vary(asRecorded, { session, random: seededRandom(seed) })
      if (varied === undefined) continue
      expect(varied.steps).not.toEqual(asRecorded)
      const { tape } = await playableSession(session, varied.steps)
      const frames = tape.turns
        .flatMap(({ trigger, response }) => [trigger?.n ?? 0, response?.n ?? 0])
        .filter((n) => n > 0)
      expect(new Set(frames).size).toBe(frames.length)
      for (const { trigger } of tape.turns)
        expect(() => JSON.parse(trigger?.text ?? '') as unknown).not.toThrow()
    }
  },
)
