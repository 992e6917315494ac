import { describe, expect, test } from 'vitest'
import { call, client, tapeOf } from '../../test/support/tape-of.ts'
import { turnStoreOf } from '../tape/turns.ts'
import { applyBindingsFile, toBindingsFile, readBindingsFile } from './bindings-file.ts'
import { findBindings } from './find/find-bindings.ts'
import { formatTapeLocation, formatProducer } from './location-text.ts'
import { LiveValueBinder } from './carry/live-value-binder.ts'

const TAPE = tapeOf(
  ...call(1, 'start', {}, 'The code word is rosa, remember it. Run a1b2c3d4.'),
  client({
    id: 2,
    method: 'tools/call',
    params: { name: 'say', arguments: { word: 'rosa', run: 'a1b2c3d4' } },
  }),
)

function applied(file: unknown): readonly string[] {
  const { bindings } = applyBindingsFile(
    findBindings(TAPE.turns),
    readBindingsFile(file),
    turnStoreOf(TAPE.turns),
  )
  return bindings.flatMap(({ producer, consumers, standing }) =>
    consumers.map((consumer) => `${formatProducer(producer)} -> ${formatTapeLocation(consumer)} ${standing}`),
  )
}

const RUN = '#1 result.content[0].text > text "rosa, remember it. Run {}." -> #2 params.arguments.run found'

test('a file adds a binding that could not be found, and replay uses it', () => {
  const bind = [
    {
      from: '#1 result.content[0].text > text "word is {},"',
      to: '#2 params.arguments.word',
      note: 'a secret',
    },
  ]
  expect(applied({ bind })).toEqual([
    RUN,
    '#1 result.content[0].text > text "The code word is {}, rememb" -> #2 params.arguments.word user',
  ])
  const { bindings } = applyBindingsFile(
    findBindings(TAPE.turns),
    readBindingsFile({ bind }),
    turnStoreOf(TAPE.turns),
  )
  const binder = new LiveValueBinder(bindings, { now: () => 0 })
  const [first, second] = TAPE.turns
  const live = '{"result":{"content":[{"text":"The code word is lilie, remember it. Run ffff0000."}]}}'
  if (first?.response) binder.learn(first.response, live)
  expect(second?.trigger && JSON.parse(binder.fill(second.trigger).text).params.arguments).toEqual({
    word: 'lilie',
    run: 'ffff0000',
  })
})

test('a file corrects a binding: it replaces what was found for the same location', () => {
  const bind = [{ from: 'now + 1 days', to: ['#2 params.arguments.run'] }]
  expect(applied({ bind })).toEqual(['now + 1 days -> #2 params.arguments.run user'])
})

test('a file forbids a binding, in one exchange or wherever the path occurs', () => {
  expect(applied({ forbid: ['#2 params.arguments.run'] })).toEqual([])
  expect(applied({ forbid: ['params.arguments'] })).toEqual([])
  expect(applied({ forbid: ['#9 params.arguments.run'] })).toEqual([RUN])
})

test('bindings that are printed as a file can be read again unchanged', () => {
  const { bindings } = findBindings(TAPE.turns)
  const file = toBindingsFile(bindings)
  expect(file.bind).toEqual([
    {
      from: '#1 result.content[0].text > text "rosa, remember it. Run {}."',
      to: ['#2 params.arguments.run'],
      note: 'a1b2c3d4: a value that is unlikely to be generated twice',
    },
  ])
  expect(applied(JSON.parse(JSON.stringify(file)))).toEqual([RUN.replace('found', 'user')])
})

describe('an invalid file is rejected with the reason', () => {
  test.each([
    [[], 'cannot use the bindings: the file must contain an object'],
    [{ binds: [] }, 'cannot use the bindings: unknown key "binds"'],
    [{ bind: {} }, 'cannot use the bindings: "bind" must be a list'],
    [{ bind: [{ from: 1 }] }, 'cannot use the bindings: bind[0].from must be a string'],
    [
      { bind: [{ from: '#1 a', to: [] }] },
      'cannot use the bindings: bind[0].to must contain at least one location',
    ],
    [
      { bind: [{ from: 'a.b', to: '#2 a' }] },
      'invalid location "a.b": expected the number of an exchange and a path',
    ],
    [
      { bind: [{ from: '#1 a[*]', to: '#2 a' }] },
      'invalid location "#1 a[*]": [*] stands for several locations, and a binding needs exactly one',
    ],
    [
      { bind: [{ from: '#1 a > jsn b', to: '#2 a' }] },
      'invalid location "#1 a > jsn b": unknown step "jsn b"',
    ],
    [
      { bind: [{ from: '#1 a > text "x"', to: '#2 a' }] },
      'invalid location "#1 a > text \\"x\\"": a text step needs a quoted text with {} in place of the value',
    ],
    [
      { forbid: ['arguments.run'] },
      'cannot use the bindings: forbid[0] is arguments.run, but must start with "params" or "result"',
    ],
    [
      { bind: [{ from: '#77 result.id', to: '#2 params.arguments.run' }] },
      'cannot use the bindings: the tape has no message #77',
    ],
    [
      { bind: [{ from: 'frame 7 result.id', to: '#2 params.arguments.run' }] },
      'cannot use the bindings: the tape has no message in frame 7',
    ],
    [
      { bind: [{ from: '#1 result.id', to: '#2 params.arguments.run' }] },
      'cannot use the bindings: there is no string or number at #1 result.id',
    ],
    [
      { bind: [{ from: '#1 result.content[0].text > text "nothing {}"', to: '#2 params.arguments.run' }] },
      'cannot use the bindings: "nothing " is not in the text',
    ],
  ])('%j', (file, message) => {
    expect(() => applied(file)).toThrow(expect.objectContaining({ code: 'BINDINGS_INVALID', message }))
  })
})
