import { LENGTHS, type AgeReading, type TimeEvidence, type TimeToken } from './time-reading.ts'

/** Finds ages and distances from now in a text: `2 hours ago`, `in 3 days`, `yesterday`, `5m 3s`. */
export function ageTokens(text: string, key: string): readonly TimeToken[] {
  const spoken = Array.from(text.matchAll(SPOKEN), (found) => token(found, spokenAge(found[0])))
  const counted = Array.from(text.matchAll(COUNTED), (found) => token(found, countedAge(found, text, key)))
  return [...spoken, ...counted].filter(({ readings }) => readings.length > 0)
}

function token({ index, 0: { length } }: RegExpExecArray, age: AgeReading | undefined): TimeToken {
  return { start: index, end: index + length, readings: age === undefined ? [] : [age] }
}

/** Finds plain numbers in a text. A number that is part of a version, an id or an amount of money is not plain. */
export function countTokens(text: string, key: string): readonly TimeToken[] {
  return Array.from(text.matchAll(PLAIN_NUMBER), (found) => {
    const [start, end] = [found.index, found.index + found[0].length]
    const digits = found[0].replaceAll(',', '')
    const decimals = /\.(?<decimals>\d+)$/.exec(digits)?.groups?.['decimals']?.length ?? 0
    return {
      start,
      end,
      readings: [
        {
          kind: 'count',
          form: 'count',
          value: Number(digits),
          decimals,
          get evidence() {
            return evidenceIn(key, text.slice(0, start), text.slice(end))
          },
        },
      ],
    }
  })
}

const PLAIN_NUMBER =
  /(?<![\w.,#$€£¥@/-])(?:\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.\d{1,9})?(?![\w@/-]|[.,:]\d| ?(?:%|[$€£¥]|[A-Z]{3}\b|[kMGT]i?B\b))/g

const UNITS: readonly (readonly [words: string, length: number])[] = [
  ['ms|msecs?|millis|milliseconds?', LENGTHS.millisecond],
  ['s|secs?|seconds?', LENGTHS.second],
  ['m|mins?|minutes?', LENGTHS.minute],
  ['h|hrs?|hours?', LENGTHS.hour],
  ['d|days?', LENGTHS.day],
  ['w|wks?|weeks?', LENGTHS.week],
  ['mo|mos|months?', LENGTHS.month],
  ['y|yrs?|years?', LENGTHS.year],
]
const UNIT = UNITS.map(([words]) => words).join('|')
const NUMBER = '(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?'
const PART = `(?:${NUMBER} ?(?:${UNIT})|(?:an?|one|half an?|a few|a couple of) (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?))(?![a-z])`
const COUNTED = new RegExp(
  `(?<![\\w.,$€£-])(?<ahead>in )?(?:(?:about|around|almost|nearly|over|less than|more than|~) ?)?(?<parts>${PART}(?:(?:,? (?:and )?)?${PART}){0,5})(?<tail> (?:ago|earlier|old|from now|later|left|remaining|to go))?(?!\\w)`,
  'gi',
)
const SPOKEN =
  /(?<!\w)(?:just now|right now|moments ago|a moment ago|seconds ago|today|yesterday|tomorrow|(?:last|next) (?:week|month|year))(?!\w)/gi

const SPOKEN_AGES: Readonly<Record<string, readonly [age: number, precision: number]>> = {
  today: [0, LENGTHS.day],
  yesterday: [LENGTHS.day, LENGTHS.day],
  tomorrow: [-LENGTHS.day, LENGTHS.day],
  'last week': [LENGTHS.week, LENGTHS.week],
  'last month': [LENGTHS.month, LENGTHS.month],
  'last year': [LENGTHS.year, LENGTHS.year],
  'next week': [-LENGTHS.week, LENGTHS.week],
  'next month': [-LENGTHS.month, LENGTHS.month],
  'next year': [-LENGTHS.year, LENGTHS.year],
}

function spokenAge(text: string): AgeReading {
  const [age, precision] = SPOKEN_AGES[text.toLowerCase()] ?? [0, LENGTHS.minute]
  return { kind: 'age', form: 'relative', style: undefined, age, precision, evidence: NO_EVIDENCE }
}

const NO_EVIDENCE: TimeEvidence = {
  unit: undefined,
  isAge: false,
  isCountdown: false,
  isUptime: false,
  isOther: false,
}

function countedAge(found: RegExpExecArray, text: string, key: string): AgeReading | undefined {
  const { ahead, parts = '', tail } = found.groups ?? {}
  const amounts = Array.from(parts.matchAll(ONE_PART), ({ groups }) => amountOf(groups ?? {}))
  const total = amounts.reduce((sum, { amount }) => sum + amount, 0)
  const precision = Math.min(...amounts.map((one) => one.precision))
  const isAhead = ahead !== undefined || /from now|later|left|remaining|to go/i.test(tail ?? '')
  const isRelative = ahead !== undefined || tail !== undefined
  return {
    kind: 'age',
    form: isRelative ? 'relative' : 'duration',
    style: /\d ?(?:ms|mo|[smhdwy])(?![a-z])/i.test(parts) ? 'letters' : 'words',
    age: isAhead ? -total : total,
    precision,
    get evidence() {
      return evidenceIn(key, text.slice(0, found.index), text.slice(found.index + found[0].length))
    },
  }
}

const ONE_PART = new RegExp(
  `(?<amount>(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.(?<decimals>\\d+))?|half an?|a few|a couple of|an?|one) ?(?<unit>${UNIT})(?![a-z])`,
  'gi',
)
const AMOUNTS: Readonly<Record<string, number>> = { half: 0.5, few: 3, couple: 2 }

function amountOf(groups: Readonly<Record<string, string | undefined>>): {
  amount: number
  precision: number
} {
  const { amount = '', decimals = '', unit = '' } = groups
  const length = unitLength(unit) ?? 0
  const spoken = AMOUNTS[/half|few|couple/i.exec(amount)?.[0].toLowerCase() ?? ''] ?? 1
  return {
    amount: (/\d/.test(amount) ? Number(amount.replaceAll(',', '')) : spoken) * length,
    precision: length / 10 ** decimals.length,
  }
}

const UNIT_LENGTHS = UNITS.map(([words, length]) => [new RegExp(`^(?:${words})$`, 'i'), length] as const)

function unitLength(word: string): number | undefined {
  return UNIT_LENGTHS.find(([pattern]) => pattern.test(word))?.[1]
}

/** Looks at the name of the field and at the words next to a number. It is called only for numbers that differ. */
function evidenceIn(key: string, before: string, after: string): TimeEvidence {
  const ahead = wordsIn(/[^.;,|\n]{0,40}$/.exec(before.slice(-40))?.[0] ?? '').slice(-4)
  const behind = wordsIn(/^[^.;,|\n]{0,24}/.exec(after.slice(0, 24))?.[0] ?? '').slice(0, 2)
  const words = [...wordsIn(key), ...ahead, ...behind]
  // A single m may be metres, and is a unit of time only in a form such as 5m 3s.
  const named = [...wordsIn(key).slice(-2), ...ahead.slice(-2), ...behind.slice(0, 1)].filter(
    (word) => word !== 'm',
  )
  return {
    unit: named.map(unitLength).find((length) => length !== undefined),
    isAge: words.some((word) => AGE_WORDS.has(word)),
    isCountdown: words.some((word) => COUNTDOWN_WORDS.has(word)),
    isUptime: words.some((word) => word === 'uptime' || word === 'up' || word === 'running'),
    isOther: words.some((word) => OTHER_WORDS.has(word)),
  }
}

function wordsIn(text: string): readonly string[] {
  const words = text.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').match(/[a-z]+/gi) ?? []
  return words.map((word) => word.toLowerCase())
}

const AGE_WORDS: ReadonlySet<string> = new Set(
  'age ago old since uptime up running alive elapsed idle last seen'.split(' '),
)
const COUNTDOWN_WORDS: ReadonlySet<string> = new Set(
  'left remaining remains expires expire expiry expiration until due starts ends'.split(' '),
)
const OTHER_WORDS: ReadonlySet<string> = new Set(
  'price cost amount total count quantity limit max maximum minimum timeout ttl interval retention period delay per every each size bytes port version rate'.split(
    ' ',
  ),
)
