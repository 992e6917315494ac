import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerOf, callOf, client, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import { idKey, type Id, classifyMessage } from '../../protocol/message.ts'
import { member } from '../../json/parse.ts'
import { SessionPlayer } from './session-player.ts'
import { RecordedServer } from './recorded-server.ts'
import { cases } from '../../../test/support/cases.ts'

interface Call {
  readonly tool: string
  readonly n: number
}

const tool = fc.constantFrom('a', 'b')
const n = fc.nat(2)
const recordedCalls = fc.array(fc.record({ tool, n, asks: fc.boolean() }), { maxLength: 12 })
const id = fc.oneof(fc.nat(20), fc.nat(20).map(String))
const liveCalls = fc.uniqueArray(fc.record({ id, tool: fc.oneof(tool, fc.constant('never')), n }), {
  maxLength: 16,
  selector: (call) => idKey(call.id),
})

test('however parallel calls interleave, then and now, each gets its own recorded answer or a miss, once', () => {
  fc.assert(
    fc.property(recordedCalls, liveCalls, fc.infiniteStream(fc.nat(1_000)), (recorded, live, chances) => {
      const pick = (count: number): number => (chances.next().value ?? 0) % count
      const said = interleaved(recorded, pick)
      expect(playedTo(live, said, pick)).toEqual(expectedFor(live, said))
    }),
    cases(100),
  )
})

/** Every call's own messages in their order, the calls mixed by chance. */
function interleaved(calls: readonly (Call & { asks: boolean })[], pick: (count: number) => number): Said[] {
  const said: Said[] = []
  let queues = calls.map(({ tool: name, n: value, asks }, index) => [
    client(callOf(index, name, { n: value })),
    ...(asks
      ? [server({ id: index, method: 'roots/list' }), client({ id: index, result: { roots: [] } })]
      : []),
    server(answerOf(index, `answer ${index}`)),
  ])
  while (queues.length > 0) {
    said.push(...(queues[pick(queues.length)]?.splice(0, 1) ?? []))
    queues = queues.filter((queue) => queue.length > 0)
  }
  return said
}

/** What each live call was answered, the client answering what it is asked at any time. */
function playedTo(
  live: readonly (Call & { id: Id })[],
  said: readonly Said[],
  pick: (count: number) => number,
): Answers {
  const answers: Answers = {}
  const questions: Id[] = []
  const send = (text: string): void => {
    const message = classifyMessage(JSON.parse(text))
    if (message.kind === 'request') questions.push(message.id)
    else if (message.kind === 'response')
      (answers[idKey(message.id ?? '')] ??= []).push(answerIn(message.outcome))
  }
  const player = new SessionPlayer({
    recordedServer: new RecordedServer({
      turns: tapeOf(...said).turns,
      server: 'demo',
      tape: '',
      commandFor: () => '',
    }),
    send,
  })
  const waiting = live.map((call) => callOf(call.id, call.tool, { n: call.n }))
  while (waiting.length + questions.length > 0) {
    const question =
      pick(waiting.length + questions.length) < waiting.length
        ? []
        : questions.splice(pick(questions.length), 1)
    const message = question.length === 0 ? waiting.shift() : { id: question[0], result: { roots: [] } }
    player.handleText(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }
  return answers
}

type Answers = Record<string, string[]>

function answerIn(outcome: { readonly result: unknown } | { readonly error: unknown }): string {
  if ('error' in outcome) return `miss ${String(member(member(outcome.error, 'data'), 'kind'))}`
  return /answer \d+/.exec(JSON.stringify(outcome.result))?.[0] ?? ''
}

/** Equal calls are answered in the order in which they were recorded. */
function expectedFor(live: readonly (Call & { id: Id })[], said: readonly Said[]): Answers {
  const queues = new Map<string, string[]>()
  for (const { text } of said) {
    const message = classifyMessage(JSON.parse(text))
    if (message.kind !== 'request' || message.method !== 'tools/call') continue
    const key = JSON.stringify(message.params)
    queues.set(key, [...(queues.get(key) ?? []), `answer ${message.id}`])
  }
  const answerTo = (call: Call): string =>
    queues.get(JSON.stringify({ name: call.tool, arguments: { n: call.n } }))?.shift() ?? 'miss replay_miss'
  return Object.fromEntries(live.map((call) => [idKey(call.id), [answerTo(call)]]))
}
