import { expect, test } from 'vitest'
import { call, callOf, client, HANDSHAKE, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import { liveServer, type Reply } from '../../../test/support/live-server.ts'
import { member } from '../../json/parse.ts'
import type { Message } from '../../protocol/message.ts'
import type { ReplayOptions } from '../options.ts'
import { replay } from '../replay.ts'
import type { StepFinding } from '../steps/step.ts'

test.each<[string, readonly Said[]]>([
  ['the next request', [...call(2, 'search', {}, 'x')]],
  ['the end of the run', []],
])('an update of another resource than recorded is found, before %s', async (_, further) => {
  const tape = tapeOf(...HANDSHAKE, ...call(1, 'search', {}, 'x'), updated('file:///a'), ...further)
  const { summary, steps } = await played(tape, ['file:///b'])
  expect(summary.verdict).toBe('fail')
  expect(steps.at(-1)?.findings).toMatchObject([
    {
      layer: 'values',
      level: 'error',
      message: 'of notifications/resources/updated has another value',
      path: 'params.uri.path[0]',
      expected: 'a',
      actual: 'b',
    },
  ] satisfies Partial<StepFinding>[])
})

const both = tapeOf(
  ...HANDSHAKE,
  client(callOf(1, 'search', {})),
  updated('file:///a'),
  updated('file:///b'),
  server({ id: 1, result: { content: [{ type: 'text', text: 'x' }] } }),
  ...call(2, 'search', {}, 'x'),
)

test.each<[string, readonly string[], Partial<ReplayOptions>]>([
  ['the same in another order', ['file:///b', 'file:///a'], {}],
  ['one more', ['file:///a', 'file:///c', 'file:///b'], {}],
  ['another one that is not to be compared', ['file:///a', 'file:///c'], { ignore: ['params.uri'] }],
  ['another one where nothing is compared', ['file:///a', 'file:///c'], { validate: false }],
])('%s is no finding', async (_, uris, options) => {
  const { steps } = await played(both, uris, options)
  expect(steps.flatMap(({ findings }) => findings)).toEqual([])
})

test('a resource whose name the live server made up is no other one', async () => {
  const [recorded, live] = ['3f2504e0-4f89-41d3-9a0c-0305e82c3301', '7d444840-9dc0-11d1-b245-5ffdce74fad2']
  const subscribe = client({ id: 2, method: 'resources/subscribe', params: { uri: `note://${recorded}` } })
  const tape = tapeOf(
    ...HANDSHAKE,
    ...call(1, 'search', {}, `note://${recorded}`),
    subscribe,
    updated(`note://${recorded}`),
    server({ id: 2, result: {} }),
  )
  const { target, heard } = telling([`note://${live}`], (message) =>
    toolOf(message) === undefined ? {} : { content: [{ type: 'text', text: `note://${live}` }] },
  )
  const { steps } = await replay(tape, { target }).report
  expect(member(member(heard.at(-1), 'params'), 'uri')).toBe(`note://${live}`)
  expect(steps.flatMap(({ findings }) => findings)).toEqual([])
})

function updated(uri: string): Said {
  return server({ method: 'notifications/resources/updated', params: { uri } })
}

function played(
  tape: ReturnType<typeof tapeOf>,
  uris: readonly string[],
  options: Partial<ReplayOptions> = {},
): ReturnType<typeof replay>['report'] {
  const { target } = telling(uris, () => ({ content: [{ type: 'text', text: 'x' }] }))
  return replay(tape, { target, ...options }).report
}

/** A server that tells of changed resources whenever it is asked for something. */
function telling(
  uris: readonly string[],
  result: (message: Message) => unknown,
): ReturnType<typeof liveServer> {
  const { target, heard } = liveServer((message): Reply => ({ result: result(message) }))
  const open: typeof target.open = async (handlers) => {
    const link = await target.open(handlers)
    const send = (text: string): void => {
      if (/"method":"(tools\/call|resources)/.test(text))
        for (const uri of uris) handlers.onText(updated(uri).text)
      link.send(text)
    }
    return { ...link, send }
  }
  return { target: { ...target, open }, heard }
}

function toolOf(message: Message): unknown {
  return member(member(message, 'params'), 'name')
}
