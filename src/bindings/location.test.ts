import { expect, test } from 'vitest'
import { findToken, describeToken } from './location.ts'

function foundIn(recorded: string, token: string, live: string): string | undefined {
  const start = recorded.indexOf(token)
  const span = findToken(live, describeToken(recorded, start, start + token.length))
  return span && live.slice(span.start, span.end)
}

test('a token is found by the text before it', () => {
  expect(foundIn('Created issue a1 in 5 ms.', 'a1', 'Warning!\nCreated issue zz-99 in 12 ms.')).toBe('zz-99')
  expect(foundIn('id=a1', 'a1', 'id=x_y')).toBe('x_y')
})

test('words that are likely to change are not used to find a token', () => {
  expect(foundIn('moved a1b2 to c3d4', 'c3d4', 'moved x9 to y8')).toBe('y8')
  expect(foundIn('for rosa, please: run a1b2', 'a1b2', 'for lilie, please: run c3d4')).toBe('c3d4')
  expect(foundIn('for rosa, please: run a1b2', 'a1b2', 'for my lilie, please: run c3d4 now')).toBe('c3d4')
})

test('among equal contexts the token with the same rank is found', () => {
  expect(foundIn('- a1\n- b2\n- c3', 'b2', '- x1\n- y2\n- z3')).toBe('y2')
})

test('a UUID, a path, a URI and a base64 text are one token each', () => {
  const uuid = '0b1f5f2c-9d1e-4111-8222-abcdefabcdef'
  expect(
    foundIn(
      'id 5f2c9d1e-0b1f-4111-8222-abcdefabcdef.',
      '5f2c9d1e-0b1f-4111-8222-abcdefabcdef',
      `id ${uuid}.`,
    ),
  ).toBe(uuid)
  expect(foundIn('in /tmp/a/b now', '/tmp/a/b', 'in /var/x-y now')).toBe('/var/x-y')
  expect(foundIn('see x://a/1', 'x://a/1', 'see x://b/2.')).toBe('x://b/2')
  expect(foundIn('state YWJj/GVm+w==', 'YWJj/GVm+w==', 'state eHl6eHl6')).toBe('eHl6eHl6')
})

test('no token is found in an unrelated text', () => {
  expect(foundIn('Created issue a1 in 5 ms.', 'a1', 'Something went wrong')).toBeUndefined()
  expect(foundIn('- a1\n- b2\n- c3', 'c3', '- x1')).toBeUndefined()
  expect(foundIn('id: a1', 'a1', '')).toBeUndefined()
})
