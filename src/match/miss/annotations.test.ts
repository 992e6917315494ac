import { expect, test } from 'vitest'
import { call, tapeOf } from '../../../test/support/tape-of.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import { findValueOrigin } from './annotations.ts'

const OPENED = [
  ...call(1, 'open', {}, 'h-77'),
  ...call(2, 'status', {}, 'h-77'),
  ...call(3, 'read', { handle: 'h-77' }, 'h-78'),
]
const SEARCH = { turns: turnStoreOf(tapeOf(...OPENED).turns), place: 2, frame: 5, server: 'demo' }

test('a value comes from the first response that held it', () => {
  expect(findValueOrigin('h-77', SEARCH)).toEqual({ frame: 2, path: ['result', 'content', 0, 'text'] })
})

test('what was said after a request is not where its values come from', () => {
  expect(findValueOrigin('h-78', SEARCH)).toBeUndefined()
})
