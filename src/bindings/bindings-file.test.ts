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

const RUN = '#2 result.content[0].text > text "rosa, remember it. Run {}." -> #3 params.arguments.run found'

test('a file adds a binding that could not be found, and replay carries it', () => {
  const bind = [
    {
      from: '#2 result.content[0].text > text "word is {},"',
      to: '#3 params.arguments.word',
      note: 'a secret',
    },
  ]
  expect(applied({ bind })).toEqual([
    RUN,
    '#2 result.content[0].text > text "The code word is {}, rememb" -> #3 params.arguments.word user',
  ])
  const { bindings } = applyBindingsFile(
    findBindings(TAPE.turns),
    readBindingsFile({ bind }),
    turnStoreOf(TAPE.turns),
  )
  const rebinder = new LiveValueBinder(bindings, { now: () => 0 })
  const [first, second] = TAPE.turns
  const live = '{"result":{"content":[{"text":"The code word is lilie, remember it. Run ffff0000."}]}}'
  if (first?.response) rebinder.learn(first.response, live)
  expect(second?.trigger && JSON.parse(rebinder.fill(second.trigger).text).params.arguments).toEqual({
    word: 'lilie',
    run: 'ffff0000',
  })
})

test('a file fixes a binding: what it says of a place replaces what was found there', () => {
  const bind = [{ from: 'now + 1 days', to: ['#3 params.arguments.run'] }]
  expect(applied({ bind })).toEqual(['now + 1 days -> #3 params.arguments.run user'])
})

test('a file forbids a binding, in one frame or wherever the path occurs', () => {
  expect(applied({ forbid: ['#3 params.arguments.run'] })).toEqual([])
  expect(applied({ forbid: ['params.arguments'] })).toEqual([])
  expect(applied({ forbid: ['#9 params.arguments.run'] })).toEqual([RUN])
})

test('what is printed as a file can be read again, and says the same', () => {
  const { bindings } = findBindings(TAPE.turns)
  const file = toBindingsFile(bindings)
  expect(file.bind).toEqual([
    {
      from: '#2 result.content[0].text > text "rosa, remember it. Run {}."',
      to: ['#3 params.arguments.run'],
      note: 'a1b2c3d4: a value that nobody makes up twice',
    },
  ])
  expect(applied(JSON.parse(JSON.stringify(file)))).toEqual([RUN.replace('found', 'user')])
})

describe('a file that cannot be used is refused with the reason', () => {
  test.each([
    [[], 'cannot use the bindings: the file holds no object'],
    [{ binds: [] }, 'cannot use the bindings: "binds" is not known here'],
    [{ bind: {} }, 'cannot use the bindings: "bind" is no list'],
    [{ bind: [{ from: 1 }] }, 'cannot use the bindings: bind[0].from is no text'],
    [{ bind: [{ from: '#1 a', to: [] }] }, 'cannot use the bindings: bind[0].to names no place'],
    [
      { bind: [{ from: 'a.b', to: '#3 a' }] },
      'cannot read the place "a.b": it does not start with a frame and a path',
    ],
    [
      { bind: [{ from: '#2 a[*]', to: '#3 a' }] },
      'cannot read the place "#2 a[*]": [*] names many places, and a binding needs one',
    ],
    [
      { bind: [{ from: '#2 a > jsn b', to: '#3 a' }] },
      'cannot read the place "#2 a > jsn b": "jsn b" is no step',
    ],
    [
      { bind: [{ from: '#2 a > text "x"', to: '#3 a' }] },
      'cannot read the place "#2 a > text \\"x\\"": a text step is a quoted text with {} in the place of the value',
    ],
    [
      { forbid: ['arguments.run'] },
      'cannot use the bindings: forbid[0] is arguments.run, which does not start at "params"',
    ],
    [
      { bind: [{ from: '#77 result.id', to: '#3 params.arguments.run' }] },
      'cannot use the bindings: #77 is no message of the tape',
    ],
    [
      { bind: [{ from: '#2 result.id', to: '#3 params.arguments.run' }] },
      'cannot use the bindings: there is no text or number at #2 result.id',
    ],
    [
      { bind: [{ from: '#2 result.content[0].text > text "nothing {}"', to: '#3 params.arguments.run' }] },
      'cannot use the bindings: "nothing " is not in the text',
    ],
  ])('%j', (file, message) => {
    expect(() => applied(file)).toThrow(expect.objectContaining({ code: 'BINDINGS_INVALID', message }))
  })
})
