import { expect, test } from 'vitest'
import { valuesOfOtherForm } from './value-form.ts'

const NOW = '2026-11-20T10:00:00.120Z'

test.each<[string, unknown, readonly unknown[], readonly number[]]>([
  ['a UUID in upper case', uuid('a'), [uuid('b'), uuid('c').toUpperCase(), uuid('d')], [1]],
  ['the nil UUID', uuid('a'), [uuid('0').replaceAll(/\w/g, '0'), uuid('c')], [0]],
  ['a shorter hash', 'a1'.repeat(16), ['b2'.repeat(8), 'c3'.repeat(16)], [0]],
  ['another prefix', 'req_a1b2c3d4', ['req_b9c8d7e6', 'res_0f1e2d3c', 'res_7a6b5c4d'], [1, 2]],
  ['a space in a time', NOW, [NOW, '2026-11-20 10:00:01.340Z', '2026-11-20 10:00:02.100Z'], [1, 2]],
  ['a time of tomorrow', NOW, [NOW, '2026-11-21T10:00:01.000Z', '2026-11-21T10:00:02.500Z'], [1, 2]],
  ['milliseconds since 1970', 1_795_168_800, [1_795_168_801, 1_795_168_802_340], [1]],
  ['a number in place of a time', '2026-11-20', ['2026-11-20', 1_795_168_801, 1_795_168_802], [1, 2]],
  ['seconds in place of milliseconds', 312, [640, 0.512], [1]],
  ['mebibytes in place of megabytes', '33.1 MB', ['38.2 MB', '32.4 MiB'], [1]],
  ['a share in place of per cent', '45%', ['61%', '0.52'], [1]],
])('%s is another form', (_, recorded, lives, others) => {
  expect([...valuesOfOtherForm(recorded, lives)]).toEqual(others)
})

test.each<[string, unknown, readonly unknown[]]>([
  ['that all values have', uuid('a'), [uuid('b'), uuid('c')]],
  ['that all live values have', uuid('a'), [uuid('b').toUpperCase(), uuid('c').toUpperCase()]],
  ['of random words', 'red', ['red', 'green fog', 'pale-blue']],
  ['of ids that are one character shorter', 'k3x8q1z9w', ['p7w2z4a8', 'm5r9a8b7c']],
  ['of hexadecimal ids that have only digits', '1234567890', ['a234567890', 'b2c4d6e8f0']],
  ['of quantities in a unit that fits the size', '980ms', ['1.2s', '640ms', '1m 3s']],
  ['of bytes', '980 B', ['1.2 KB', '14 KB', '312 B']],
  ['of numbers with and without decimals', '12.5', ['13', '11.25']],
  ['of numbers', 0.5, [12, 0.75]],
  ['of shares in place of an integer', 10, [0.72, 0.03, 0.41]],
  ['of times without zeros at the end', NOW, ['2026-11-20T10:00:01.34Z', '2026-11-20T10:00:02Z']],
  ['of long texts', 'a b'.repeat(100), ['a-b'.repeat(100), 'b a'.repeat(100)]],
  [
    'of random ids with a dash or without',
    'V1StGXR8_Z5jdHi6B-myT',
    ['FyT5sQ0aK_2bLmN9oPqRs', 'aB3dE5gH7jK9mN1pQ3sT5'],
  ],
  ['of random names of files', '/tmp/abCdEf', ['/tmp/xYzAbc', '/tmp/a1b2c3']],
  ['of UUIDs in braces', `{${uuid('a')}}`, [`{${uuid('b').replace('4f89', '1234')}}`, `{${uuid('c')}}`]],
  ['of null and texts', 'a1b2c3d4', [null, 'b1c2d3e4']],
])('values have a form %s', (_, recorded, lives) => {
  expect([...valuesOfOtherForm(recorded, lives)]).toEqual([])
})

function uuid(letter: string): string {
  return `3f2504e0-4f89-41d3-9a0c-0305e82c33${letter}1`
}
