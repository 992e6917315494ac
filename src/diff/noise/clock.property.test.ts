import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../../test/support/cases.ts'
import { differOnlyInTime } from './clock.ts'

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]
const [MONTH, YEAR] = [30.44 * DAY, 365.25 * DAY]
const SLACK = 2 * MINUTE
const TAPE_AGES = {
  '0 s': 0,
  '90 s': 90 * SECOND,
  '1 h': HOUR,
  '1 d': DAY,
  '2 d': 2 * DAY,
  '30 d': 30 * DAY,
  '400 d': 400 * DAY,
}

/** A way to write a time, and its precision. */
type Form = readonly [precision: number, write: (at: number) => string | number, path?: readonly string[]]

const iso = (at: number): string => new Date(at).toISOString()
const utc = (options: Intl.DateTimeFormatOptions, locale = 'en-US') => {
  const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
  return (at: number): string => format.format(at)
}
const day = (at: number): [y: string, m: string, d: string] => {
  const [y = '', m = '', d = ''] = iso(at).slice(0, 10).split('-')
  return [y, m, d]
}
const long = { day: 'numeric', month: 'long', year: 'numeric' } as const
const http = (at: number): string => new Date(at).toUTCString()
const ctime = (at: number): string => {
  const [weekday = '', d = '', month = '', y = '', time = ''] = http(at).replace(',', '').split(' ')
  return `${weekday} ${month} ${String(Number(d)).padStart(2)} ${time} ${y}`
}
const floor = (at: number, unit: number): number => Math.floor(at / unit)

/** Forms that show a moment. */
const MOMENTS: Readonly<Record<string, Form>> = {
  iso: [1, iso],
  'iso with seconds': [SECOND, (at) => `${iso(at).slice(0, 19)}Z`],
  'iso with minutes': [MINUTE, (at) => iso(at).slice(0, 16)],
  'iso with a space': [SECOND, (at) => iso(at).slice(0, 19).replace('T', ' ')],
  'iso with microseconds': [1, (at) => iso(at).replace('Z', '123+00:00')],
  'iso in another zone': [SECOND, (at) => `${iso(at + 5.5 * HOUR).slice(0, 19)}+05:30`],
  'iso beside a zone name': [SECOND, (at) => `${iso(at + 9 * HOUR).slice(0, 19)} in Asia/Tokyo`],
  'compact iso': [SECOND, (at) => iso(at).slice(0, 19).replaceAll(/[-:]/g, '') + 'Z'],
  'http date': [SECOND, http],
  'rfc 2822': [SECOND, (at) => http(at).replace('GMT', '+0000')],
  'rfc 850': [SECOND, (at) => http(at).replace(/(\d\d) (\w{3}) \d\d(\d\d)/, '$1-$2-$3')],
  'js date': [SECOND, (at) => String(new Date(at))],
  'local date and time': [SECOND, (at) => new Date(at).toLocaleString('en-US')],
  'local time of day': [SECOND, (at) => new Date(at).toLocaleTimeString('en-US')],
  ctime: [SECOND, ctime],
  'date command': [SECOND, (at) => ctime(at).replace(/ (\d{4})$/, ' UTC $1')],
  'web server log': [
    SECOND,
    (at) =>
      http(at)
        .slice(5, 25)
        .replaceAll(/ (?=\D|\d{4})/g, '/')
        .replace(/ /, ':') + ' +0000',
  ],
  'us date and time': [SECOND, utc({ dateStyle: 'short', timeStyle: 'medium' })],
  'long date and time': [MINUTE, utc({ dateStyle: 'long', timeStyle: 'short' })],
  'german date and time': [MINUTE, utc({ dateStyle: 'medium', timeStyle: 'short' }, 'de-DE')],
  syslog: [SECOND, (at) => ctime(at).slice(4, 19)],
  'time of day': [SECOND, (at) => iso(at).slice(11, 19)],
  'time of day with a fraction': [1, (at) => iso(at).slice(11, 23)],
  'time of day in minutes': [MINUTE, (at) => iso(at).slice(11, 16)],
  'am and pm': [SECOND, utc({ timeStyle: 'medium' })],
  'am and pm in minutes': [MINUTE, utc({ timeStyle: 'short' })],
  'time of day with a zone': [SECOND, (at) => `${iso(at).slice(11, 19)} UTC`],
  'epoch seconds': [SECOND, (at) => floor(at, SECOND)],
  'epoch seconds with a fraction': [1, (at) => at / SECOND],
  'epoch milliseconds': [1, (at) => at],
  'epoch microseconds': [1, (at) => at * 1000 + 7],
  'epoch nanoseconds': [1, (at) => `${at}000007`],
  'epoch seconds as text': [SECOND, (at) => String(floor(at, SECOND))],
  'file name': [SECOND, (at) => `backup_${iso(at).slice(0, 19).replaceAll(':', '-').replace('T', '_')}.tar`],
}

/** Forms that show a day or more. They are also moved in whole days. */
const DAYS: Readonly<Record<string, Form>> = {
  date: [DAY, (at) => day(at).join('-')],
  'date with slashes': [DAY, (at) => day(at).join('/')],
  'compact date': [DAY, (at) => day(at).join('')],
  'us date': [DAY, utc({})],
  'us date with zeros': [DAY, (at) => `${day(at)[1]}/${day(at)[2]}/${day(at)[0]}`],
  'us date with two digits': [DAY, utc({ dateStyle: 'short' })],
  'german date': [DAY, (at) => day(at).toReversed().join('.')],
  'british date': [DAY, (at) => day(at).toReversed().join('/')],
  'dutch date': [DAY, (at) => day(at).toReversed().join('-')],
  'date in words': [DAY, utc({ dateStyle: 'medium' })],
  'long date': [DAY, utc(long)],
  'long british date': [DAY, utc(long, 'en-GB')],
  'long german date': [DAY, (at) => utc(long, 'en-GB')(at).replace(/^(\d+)/, '$1.')],
  'full date': [DAY, utc({ dateStyle: 'full' })],
  'js date without time': [DAY, (at) => `${ctime(at).slice(0, 10)} ${day(at)[0]}`.replace('  ', ' 0')],
  'local date': [DAY, (at) => new Date(at).toDateString()],
  'date with an ordinal': [
    DAY,
    (at) => `${utc({ month: 'short' })(at)} ${Number(day(at)[2])}th, ${day(at)[0]}`,
  ],
  'date without a year': [DAY, utc({ month: 'short', day: 'numeric' })],
  weekday: [DAY, utc({ weekday: 'long' })],
  'short weekday': [DAY, utc({ weekday: 'short' })],
  'epoch days': [DAY, (at) => floor(at, DAY), ['epoch_days']],
}

const COARSE: Readonly<Record<string, Form>> = {
  month: [MONTH, utc({ month: 'long' })],
  'short month': [MONTH, utc({ month: 'short' })],
  'month of a year': [MONTH, utc({ month: 'long', year: 'numeric' })],
  'month in numbers': [MONTH, (at) => iso(at).slice(0, 7)],
  year: [YEAR, (at) => day(at)[0]],
  'year as a number': [YEAR, (at) => Number(day(at)[0])],
  'epoch minutes': [MINUTE, (at) => floor(at, MINUTE)],
}

const agoWords = (age: number): string => {
  const units = Object.entries({
    year: YEAR,
    month: MONTH,
    week: 7 * DAY,
    day: DAY,
    hour: HOUR,
    minute: MINUTE,
  })
  const [name, unit] = units.find(([, length]) => age >= length) ?? ['second', SECOND]
  const count = floor(age, unit)
  return count === 1 ? `${name === 'hour' ? 'an' : 'a'} ${name} ago` : `${count} ${name}s ago`
}
const intl = (unit: Intl.RelativeTimeFormatUnit, length: number) => (age: number) =>
  new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-floor(age, length), unit)
const parts = (age: number): [d: number, h: number, m: number, s: number] => [
  floor(age, DAY),
  floor(age % DAY, HOUR),
  floor(age % HOUR, MINUTE),
  floor(age % MINUTE, SECOND),
]

/** Forms that show the age of a fixed event. */
const AGES: Readonly<Record<string, Form>> = {
  'age in words': [YEAR, agoWords],
  'days ago': [DAY, intl('day', DAY)],
  'hours ago': [HOUR, intl('hour', HOUR)],
  'minutes ago': [MINUTE, (age) => `${floor(age, MINUTE)} minutes ago`],
  'days as a letter': [DAY, (age) => `${floor(age, DAY)}d`],
  'hours and minutes ago': [MINUTE, (age) => `${floor(age, HOUR)}h ${parts(age)[2]}m ago`],
  'all units': [
    SECOND,
    (age) =>
      `up ${parts(age)
        .map((count, at) => `${count}${'dhms'[at]}`)
        .join('')}`,
  ],
  'units in words': [
    MINUTE,
    (age) => `${parts(age)[0]} days, ${parts(age)[1]} hours and ${parts(age)[2]} minutes`,
  ],
  'days old': [DAY, (age) => `${floor(age, DAY)} days old`],
  'seconds as a number': [SECOND, (age) => floor(age, SECOND), ['age_s']],
  'minutes as a number': [MINUTE, (age) => floor(age, MINUTE), ['ageMinutes']],
  'hours as a number': [HOUR, (age) => floor(age, HOUR), ['age', 'hours']],
  'days as a number': [DAY, (age) => floor(age, DAY), ['days_old']],
  'rounded days': [DAY, (age) => Math.round(age / DAY), ['age_days']],
  'hours with decimals': [HOUR / 100, (age) => Number((age / HOUR).toFixed(2)), ['age_hours']],
  'seconds with decimals': [SECOND, (age) => age / SECOND, ['uptime']],
  'seconds as text': [SECOND, (age) => `process_uptime_seconds ${floor(age, SECOND)}`],
}

/** The tape was recorded at some time of the years 2024 to 2029, in a session of up to five seconds. */
const session = fc.record({
  recorded: fc.integer({ min: 1_704_067_200_000, max: 1_861_920_000_000 }),
  later: fc.integer({ min: 0, max: 5000 }),
  eventAge: fc.integer({ min: 3 * DAY, max: 300 * DAY }),
})
interface Session {
  readonly recorded: number
  readonly later: number
}

function isExplained(
  then: unknown,
  now: unknown,
  { recorded, later }: Session,
  age: number,
  path: Form[2] = [],
): boolean {
  const clock = {
    recorded: { from: recorded - later, to: recorded + 200 },
    live: () => ({ from: recorded + age - 200, to: recorded + age + later }),
  }
  return then === now || differOnlyInTime(then, now, clock, path)
}

const sameDistance = { ...MOMENTS, ...DAYS, ...COARSE }
const ages = Object.entries(TAPE_AGES)
const inProse = (value: unknown): string => `<p>Report of ${String(value)}, made by Ada (build 1.2.3)</p>`

test.each(ages)('on a tape that is %s old, the current time is no difference in any form', (_, age) => {
  fc.assert(
    fc.property(session, fc.constantFrom(...Object.entries(sameDistance)), (one, [name, [, write, path]]) => {
      const [then, now] = [write(one.recorded), write(one.recorded + age)]
      expect([name, then, now, isExplained(then, now, one, age, path)]).toEqual([name, then, now, true])
      expect([
        name,
        inProse(then),
        inProse(now),
        isExplained(inProse(then), inProse(now), one, age),
      ]).toContain(true)
    }),
    cases(250),
  )
})

/** A small number is a time only if it is today, and the year of a date without one is not known. */
const WITHOUT_DISTANCE = new Set(['epoch days', 'syslog', 'date without a year'])

test.each(ages)('on a tape that is %s old, a time at a fixed distance is no difference', (_, age) => {
  const distances = fc.constantFrom(-DAY, DAY, 7 * DAY, 30 * DAY, 365 * DAY)
  const forms = fc.constantFrom(
    ...Object.entries({ ...MOMENTS, ...DAYS }).filter(([name]) => !WITHOUT_DISTANCE.has(name)),
  )
  fc.assert(
    fc.property(session, distances, forms, (one, distance, [name, [, write]]) => {
      const [then, now] = [write(one.recorded + distance), write(one.recorded + age + distance)]
      expect([name, then, now, isExplained(then, now, one, age)]).toEqual([name, then, now, true])
    }),
    cases(250),
  )
})

const ROUNDED_TIMES: Readonly<Record<string, (at: number) => unknown>> = {
  'the next full hour': (at) => iso((Math.floor(at / HOUR) + 1) * HOUR),
  'the current hour in words': (at) => `as of ${iso(Math.floor(at / HOUR) * HOUR)}`,
  'the last quarter of an hour': (at) => iso(Math.floor(at / (15 * MINUTE)) * 15 * MINUTE),
  'the end of the day': (at) => iso((Math.floor(at / DAY) + 1) * DAY),
  'the start of the month': (at) => `${iso(at).slice(0, 7)}-01`,
  'the start of the week': (at) => iso(at - ((new Date(at).getUTCDay() + 6) % 7) * DAY).slice(0, 10),
}

test.each(ages.slice(1))(
  'on a tape that is %s old, a time that is rounded to hours, days, weeks or months is no difference',
  (_, age) => {
    fc.assert(
      fc.property(session, fc.constantFrom(...Object.entries(ROUNDED_TIMES)), (one, [name, write]) => {
        const [then, now] = [write(one.recorded), write(one.recorded + age)]
        fc.pre(then !== now)
        expect([name, then, now, isExplained(then, now, one, age)]).toEqual([name, then, now, true])
      }),
      cases(250),
    )
  },
)

test('the current time without a zone is no difference if the tape was recorded in another zone', () => {
  const at = Date.UTC(2026, 10, 17, 10, 20)
  const times = { recorded: at, later: 0, eventAge: 0 }
  expect(isExplained('2026-11-17 15:50:00', '2026-11-19 10:20:00', times, 2 * DAY)).toBe(true)
  expect(isExplained('at 11/17/2026, 2:20:00 AM', 'at 11/19/2026, 10:20:00 AM', times, 2 * DAY)).toBe(true)
  expect(isExplained('2026-11-17 15:37:00', '2026-11-19 10:20:00', times, 2 * DAY)).toBe(false)
  expect(isExplained('2026-11-17 15:50:00', '2026-11-19 14:20:00', times, 2 * DAY)).toBe(false)
  expect(isExplained('2026-11-17T15:50:00Z', '2026-11-19T10:20:00Z', times, 2 * DAY)).toBe(false)
})

test('a rounded time that moves without a reason is a difference', () => {
  const at = Date.UTC(2026, 10, 17, 10, 20)
  const times = { recorded: at, later: 0, eventAge: 0 }
  expect(isExplained('2026-11-17T11:00:00Z', '2026-11-17T12:00:00Z', times, 2 * MINUTE)).toBe(false)
  expect(isExplained('2026-11-20T09:00:00Z', '2026-11-20T10:00:00Z', times, 2 * MINUTE)).toBe(false)
  expect(isExplained('2026-11-20T09:00:00Z', '2026-11-22T10:00:00Z', times, 2 * DAY)).toBe(false)
})

test.each(ages)('on a tape that is %s old, the age of an event is no difference in any form', (_, age) => {
  fc.assert(
    fc.property(
      session,
      fc.constantFrom(...Object.entries(AGES)),
      (one, [name, [precision, write, path]]) => {
        // Between a tape that is 0 s old and a run that is made in the same moment, no boundary is crossed.
        const eventAge = age === 0 ? Math.floor(one.eventAge / precision) * precision : one.eventAge
        const [then, now] = [write(eventAge), write(eventAge + age)]
        expect([
          name,
          then,
          now,
          isExplained(then, now, one, age, path) || isRareCrossing(age, precision),
        ]).toEqual([name, then, now, true])
      },
    ),
    cases(250),
  )
})

/** In `8/2/2027`, the day and the month may be read in both ways. */
function isAmbiguous(written: unknown): boolean {
  return /^(?:0?\d|1[0-2])[./-](?:0?\d|1[0-2])[./-]\d+/.test(String(written))
}

/** A Sunday, a Monday or the first of a month in some zone: such a time may be rounded on purpose. */
function isStartOfPeriod(at: number): boolean {
  return [at - DAY / 2, at, at + DAY / 2].some((near) => {
    const date = new Date(near)
    return date.getUTCDay() < 2 || date.getUTCDate() === 1
  })
}

/** Less than one in a hundred tapes of this age sees the value change. */
function isRareCrossing(age: number, precision: number): boolean {
  return age / precision < 0.01
}

test.each(ages)('on a tape that is %s old, a time that has moved is a difference', (_, age) => {
  const moves = fc.tuple(fc.constantFrom(1, -1), fc.double({ min: 2.1, max: 2.9, noNaN: true }))
  fc.assert(
    fc.property(
      session,
      fc.constantFrom(...Object.entries(sameDistance)),
      moves,
      (one, form, [sign, times]) => {
        const [name, [precision, write, path]] = form
        const moved = one.recorded + age + sign * (times * precision + SLACK + 15 * SECOND)
        const [then, now] = [write(one.recorded), write(moved)]
        fc.pre(![then, now].every(isAmbiguous) && ![one.recorded, moved].every(isStartOfPeriod))
        expect([name, then, now, then !== now && isExplained(then, now, one, age, path)]).toEqual([
          name,
          then,
          now,
          false,
        ])
      },
    ),
    cases(250),
  )
})

test.each(ages)('on a tape that is %s old, an age that has moved is a difference', (_, age) => {
  const factor = fc.constantFrom(1, -1)
  fc.assert(
    fc.property(session, fc.constantFrom(...Object.entries(AGES)), factor, (one, form, sign) => {
      const [name, [precision, write, path]] = form
      const moved = one.eventAge + age + sign * (2.5 * precision + SLACK + 15 * SECOND)
      const [then, now] = [write(one.eventAge), write(moved)]
      const isSameUnit = String(then).replaceAll(/[\d.]+/g, '') === String(now).replaceAll(/[\d.]+/g, '')
      fc.pre(moved > 0 && then !== now && isSameUnit)
      expect([name, then, now, isExplained(then, now, one, age, path)]).toEqual([name, then, now, false])
    }),
    cases(250),
  )
})

test.each(ages)('on a tape that is %s old, a changed word beside a time is a difference', (_, age) => {
  fc.assert(
    fc.property(session, fc.constantFrom(...Object.entries(sameDistance)), (one, [name, [, write]]) => {
      const [then, now] = [inProse(write(one.recorded)), inProse(write(one.recorded + age))]
      for (const [word, other] of [
        ['Ada', 'Eve'],
        ['Report', 'Result'],
        ['1.2.3', '1.2.4'],
        [' made', ''],
        ['p>', 'b>'],
      ] as const)
        expect([name, word, isExplained(then, now.replaceAll(word, other), one, age)]).toEqual([
          name,
          word,
          false,
        ])
    }),
    cases(100),
  )
})

test.each(ages)('on a tape that is %s old, words and numbers that are no times are differences', (_, age) => {
  const words = fc.array(
    fc.constantFrom('red', 'blue', 'Ada', 'open', 'closed', 'ok', 'v2', '#12', '1.2.3', '$5', '7 %', 'x1y2'),
    { minLength: 1, maxLength: 5 },
  )
  fc.assert(
    fc.property(session, words, words, (one, then, now) => {
      fc.pre(then.join(' ') !== now.join(' '))
      expect(isExplained(then.join(' '), now.join(' '), one, age)).toBe(false)
    }),
    cases(100),
  )
  const small = fc.integer({ min: 0, max: 2000 })
  fc.assert(
    fc.property(session, small, fc.integer({ min: -9, max: 9 }), (one, value, change) => {
      fc.pre(change !== 0 && !(value > 1990 && age === 400 * DAY))
      expect(isExplained(value, value + change, one, age, ['price'])).toBe(false)
      expect(isExplained(value, value + change, one, age, ['items', 'found'])).toBe(false)
      expect(isExplained(`found ${value} items`, `found ${value + change} items`, one, age)).toBe(false)
      expect(isExplained(`price ${value} EUR`, `price ${value + change} EUR`, one, age)).toBe(false)
      expect(isExplained({ value }, { value: change }, one, age)).toBe(false)
      expect(isExplained(value, String(value + change), one, age)).toBe(false)
    }),
    cases(100),
  )
})
