import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { seededRandom } from '../../seeded-random.ts'
import { compressedFormOf, decompress, wrapUncompressed } from './compressed.ts'
import { WorkLimit } from '../work-limit.ts'

const random = seededRandom(15)
const noLimit = (): WorkLimit => new WorkLimit(Infinity)

/** Texts that repeat themselves, and random bytes. */
function samples(): readonly Uint8Array[] {
  const texts = Array.from({ length: 40 }, (_, index) =>
    Array.from({ length: index * 40 }, () => ['token ', 'a', '{"x":1}', '\n'][Math.floor(random() * 4)]).join(
      '',
    ),
  )
  const noise = Uint8Array.from({ length: 70_000 }, () => Math.floor(random() * 256))
  return [...texts.map((text) => Buffer.from(text)), noise]
}

test('data that zlib compressed is read, in every form and at every level', () => {
  for (const data of samples())
    for (const level of [0, 1, 6, 9]) {
      const [gzip, zlib] = [gzipSync(data, { level }), deflateSync(data, { level })]
      expect([gzip, zlib].map(([one, two, three]) => compressedFormOf(one, two, three))).toEqual([
        'gzip',
        'zlib',
      ])
      expect(Buffer.compare(decompress(gzip, 'gzip', noLimit())!, data)).toBe(0)
      expect(Buffer.compare(decompress(zlib, 'zlib', noLimit())!, data)).toBe(0)
    }
})

test('what is written uncompressed is read by zlib', () => {
  for (const data of samples()) {
    expect(Buffer.compare(gunzipSync(wrapUncompressed(data, 'gzip')), data)).toBe(0)
    expect(Buffer.compare(inflateSync(wrapUncompressed(data, 'zlib')), data)).toBe(0)
  }
})

test('data that is cut off gives what is there, and damaged data ends', () => {
  const whole = gzipSync(Buffer.from('a secret is here. '.repeat(50)))
  const part = decompress(whole.subarray(0, 30), 'gzip', noLimit())
  expect(Buffer.from(part!).toString()).toMatch(/^a secret/)
  for (let round = 0; round < 3000; round++) {
    const damaged = Buffer.from(whole)
    damaged[10 + Math.floor(random() * (damaged.length - 10))] = Math.floor(random() * 256)
    decompress(damaged, 'gzip', new WorkLimit(1_000_000))
  }
})

test('a bomb stops at the limit', () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  expect(() => decompress(bomb, 'gzip', new WorkLimit(1_000_000))).toThrow('takes too long')
})
