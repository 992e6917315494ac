import { LENGTHS, type MomentReading, type TimeToken } from './time-reading.ts'

/** Finds times since 1970 in a text: in seconds, milliseconds, microseconds, nanoseconds, minutes or days, or in seconds as hexadecimal digits. */
export function epochTokens(text: string): readonly TimeToken[] {
  return Array.from(text.matchAll(EPOCH), (found) => {
    const start = found.index
    return { start, end: start + found[0].length, readings: epochReadings(found[0]) }
  }).filter(({ readings }) => readings.length > 0)
}

const EPOCH =
  /(?<![\w.-])(?:(?=\d*[a-f])[4-9a-f][\da-f]{7}|[12]\d{4}|[1-4]\d{7}|[1-4]\d{9}(?:\.\d{1,9})?|[1-4]\d{12}(?:\.\d{1,6})?|[1-4]\d{15}|[1-4]\d{18})(?![\w]|\.\d)/g

const EPOCH_UNITS: Readonly<Record<number, number>> = {
  5: LENGTHS.day,
  8: LENGTHS.minute,
  10: LENGTHS.second,
  13: LENGTHS.millisecond,
  16: LENGTHS.millisecond / 1000,
  19: LENGTHS.millisecond / 1_000_000,
}

function epochReadings(text: string): readonly MomentReading[] {
  if (/[a-f]/.test(text)) {
    const civil = Number.parseInt(text, 16) * LENGTHS.second
    return [{ kind: 'moment', form: 'epoch 0x', civil, precision: LENGTHS.second, offset: 0, onlyNow: true }]
  }
  const [whole = '', fraction = ''] = text.split('.')
  const unit = EPOCH_UNITS[whole.length]
  if (unit === undefined) return []
  const form = `epoch ${whole.length}${fraction === '' ? '' : '.'}`
  const precision = Math.max(1, unit / 10 ** fraction.length)
  return [
    {
      kind: 'moment',
      form,
      civil: Number(text) * unit,
      precision,
      offset: 0,
      onlyNow: unit >= LENGTHS.minute,
    },
  ]
}
