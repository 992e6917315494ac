import fc from 'fast-check'
import { expect, test } from 'vitest'
import { client, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import { findBindings } from './find-bindings.ts'
import { LiveValueBinder } from '../carry/live-value-binder.ts'
import { cases } from '../../../test/support/cases.ts'

const UUID = '5f2c9d1e-0b1f-4111-8222-abcdefabcdef'

// Few values in many locations, so that values of the server and the client are often equal.
const value = fc.oneof(
  fc.constantFrom(
    'a1b2c3d4',
    'x9y8z7w6/a1b2c3d4',
    'see a1b2c3d4.',
    'open',
    '{"id":"a1b2c3d4"}',
    btoa('{"id":"a1b2"}'),
  ),
  fc.constantFrom('5f2c9d1e', 'abcdefabcdef', UUID, `job-${UUID}/2`, `${UUID}0`, `${UUID}é`, `é/${UUID}`),
  fc.constantFrom(7, 42, 4111, 123456, 0, true, null),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
const object = fc.dictionary(fc.constantFrom('id', 'issueId', 'cursor', 'text', '__proto__', 'key'), value)
const nested = fc.oneof(object, fc.dictionary(fc.constantFrom('issue', 'items', 'inputRequests'), object))

const session = fc.array(fc.tuple(nested, nested), { minLength: 1, maxLength: 6 }).map((calls) =>
  calls.flatMap(([args, result], id): Said[] => [
    client({
      id,
      method: 'tools/call',
      params: { name: 'get_issue', arguments: args, inputResponses: args },
    }),
    server({ id, result }),
  ]),
)

test('a server that responds as recorded receives the recorded bytes', () => {
  fc.assert(
    fc.property(session, (said) => {
      const { turns } = tapeOf(...said)
      const binder = new LiveValueBinder(findBindings(turns).bindings, { now: () => 0 })
      for (const { trigger = fail(), response } of turns) {
        expect(binder.fill(trigger)).toMatchObject({ text: trigger.text, unbound: [] })
        if (response !== undefined) binder.learn(response, response.text)
      }
    }),
  )
})

// Every message contains this word, so none is left out. It is too short for a handle.
const SHARED = { pad: 'zz' }

test('leaving out messages that share no word with others loses no binding', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(nested, nested), { minLength: 1, maxLength: 6 }), (calls) => {
      const saidWith = (pad: object): readonly Said[] => [
        ...calls.flatMap(([args, result], id): Said[] => [
          client({ id, method: 'tools/call', params: { name: 'get', arguments: { ...args, ...pad } } }),
          server({ id, result: { ...result, ...pad } }),
        ]),
        client({ id: 99, method: 'tools/call', params: { name: 'get', arguments: pad } }),
      ]
      expect(findBindings(tapeOf(...saidWith({})).turns)).toEqual(
        findBindings(tapeOf(...saidWith(SHARED)).turns),
      )
    }),
    cases(100),
  )
})

test('whatever a live server responds, the messages sent are JSON of the same shape', () => {
  fc.assert(
    fc.property(session, fc.array(nested, { minLength: 6, maxLength: 6 }), (said, live) => {
      const { turns } = tapeOf(...said)
      const binder = new LiveValueBinder(findBindings(turns).bindings, { now: () => 0 })
      for (const [index, { trigger = fail(), response }] of turns.entries()) {
        const sent: unknown = JSON.parse(binder.fill(trigger).text)
        expect(sent).toMatchObject({ jsonrpc: '2.0', id: index, method: 'tools/call' })
        if (response !== undefined) binder.learn(response, JSON.stringify({ id: index, result: live[index] }))
      }
    }),
  )
})

function fail(): never {
  throw new Error('a turn without a request')
}
