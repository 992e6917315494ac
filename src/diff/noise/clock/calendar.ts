import {
  LENGTHS,
  type DayReading,
  type PartReading,
  type TimeReading,
  type TimeToken,
} from './time-reading.ts'

/** Finds dates and times of day in a text. A date without a year is read as the one nearest to `around`. */
export function calendarTokens(text: string, around: number): readonly TimeToken[] {
  return FORMS.flatMap(({ pattern, read }) =>
    Array.from(text.matchAll(pattern), (found) => {
      const start = found.index
      const fields = found.groups ?? {}
      return { start, end: start + found[0].length, readings: read(fields, found[0], around) }
    }).filter(({ readings }) => readings.length > 0),
  )
}

type Fields = Readonly<Record<string, string | undefined>>

interface CalendarForm {
  readonly pattern: RegExp
  readonly read: (fields: Fields, text: string, around: number) => readonly TimeReading[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** German, French, Spanish, Italian, Portuguese and Dutch. */
const FOREIGN_MONTHS = placesOfNames([
  'januar februar märz april mai juni juli august september oktober november dezember',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
  'januari februari maart april mei juni juli augustus september oktober november december',
])
const FOREIGN_WEEKDAYS = placesOfNames([
  'sonntag montag dienstag mittwoch donnerstag freitag samstag',
  'dimanche lundi mardi mercredi jeudi vendredi samedi',
  'domingo lunes martes miércoles jueves viernes sábado',
  'domenica lunedì martedì mercoledì giovedì venerdì sabato',
  'domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado',
  'zondag maandag dinsdag woensdag donderdag vrijdag zaterdag',
])
const MONTH = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|${anyOf(FOREIGN_MONTHS)})`
const WEEKDAY = `(?:Mon(?:day)?|Tue(?:s|sday)?|Wed(?:nesday)?|Thu(?:rs|rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?|${anyOf(FOREIGN_WEEKDAYS)})`
/** The named zones of RFC 2822 and a few that `date` and Java print, in hours from UTC. */
const NAMED_ZONES: Readonly<Record<string, number>> = Object.fromEntries(
  'UTC 0,GMT 0,WET 0,WEST 1,BST 1,CET 1,CEST 2,EET 2,EEST 3,MSK 3,IST 5.5,EST -5,EDT -4,CST -6,CDT -5,MST -7,MDT -6,PST -8,PDT -7,JST 9,KST 9,AEST 10,AEDT 11,NZST 12,NZDT 13'
    .split(',')
    .map((zone) => zone.split(' '))
    .map(([name = '', hours]) => [name, Number(hours)]),
)
const ZONE = `(?<zone> ?(?:(?:UTC|GMT)?[+-](?:0\\d|1[0-4])(?::?[0-5]\\d)?|Z|${Object.keys(NAMED_ZONES).join('|')})(?![\\w:])(?: \\([^()]{1,60}\\))?)`
const HALF = '(?:[ \\u00a0\\u202f]?(?<half>[AP]\\.?M\\b\\.?))?'
const CLOCK = `(?<hour>[01]?\\d|2[0-3]):(?<minute>[0-5]\\d)(?::(?<second>[0-5]\\d|60)(?:[.,](?<fraction>\\d{1,9}))?)?${HALF}`
const WITH_TIME = `(?:(?:T|,? {1,2}|,? at | - |[:_])${CLOCK}${ZONE}?)?`
const AFTER_WEEKDAY = `(?:(?<weekday>${WEEKDAY})[.,]{0,2} {1,2})?`
const ORDINAL = '(?:st|nd|rd|th)?'

const FORMS: readonly CalendarForm[] = [
  // 2026-11-13T20:46:00.123Z, 2026/11/13 20:46, Fri 2026-11-13, 2026:11:13 20:46:00
  dateForm(`(?<year>\\d{4})(?<mark>[-/.:])(?<month>\\d{1,2})\\k<mark>(?<day>\\d{1,2})${WITH_TIME}`),
  // 2026-11-13_20-46-00, as in names of files
  dateForm(
    '(?<year>\\d{4})-(?<month>\\d\\d)-(?<day>\\d\\d)[T_ -](?<hour>[01]\\d|2[0-3])(?<mark>[-._])(?<minute>[0-5]\\d)\\k<mark>(?<second>[0-5]\\d)',
  ),
  // 11/13/2026, 8:46:00 PM and 13.11.2026 20:46: the order of day and month is not known.
  dateForm(
    `(?<month>\\d{1,2})(?<mark>[-/.])(?<day>\\d{1,2})\\k<mark>(?<year>\\d{4}|(?<=[/.])\\d\\d)${WITH_TIME}`,
  ),
  dateForm(
    `(?<day>\\d{1,2})(?<mark>[-/.])(?<month>\\d{1,2})\\k<mark>(?<year>\\d{4}|(?<=[/.])\\d\\d)${WITH_TIME}`,
  ),
  // 2026年11月13日
  dateForm('(?<year>\\d{4})年(?<month>\\d{1,2})月(?<day>\\d{1,2})日'),
  // Nov 13, 2026 at 8:46 PM, Fri Nov 13 2026 20:46:00 GMT+0000 (Coordinated Universal Time)
  dateForm(`(?<name>${MONTH})\\.?[ -]{1,2}(?<day>\\d{1,2})${ORDINAL}(?:,? |-)(?<year>\\d{4})${WITH_TIME}`),
  // 13 November 2026, Fri, 13 Nov 2026 20:46:00 GMT, 13/Nov/2026:20:46:00 +0000, Friday, 13-Nov-26 20:46:00 GMT
  dateForm(
    `(?<day>\\d{1,2})(?:st|nd|rd|th|\\.)?[ /-]?(?:of |de )?(?<name>${MONTH})\\.?,?(?: de)?[ /-]?(?<year>\\d{4}|(?<=-)\\d\\d)${WITH_TIME}`,
  ),
  // Fri Nov 13 20:46:00 UTC 2026
  dateForm(`(?<name>${MONTH}) {1,2}(?<day>\\d{1,2}) ${CLOCK}${ZONE}? (?<year>\\d{4})`),
  // Nov 13, Friday, 13 November, Nov 13 20:46:00
  dateForm(`(?<name>${MONTH})\\.? {1,2}(?<day>\\d{1,2})${ORDINAL}${WITH_TIME}`),
  dateForm(`(?<day>\\d{1,2})(?:st|nd|rd|th|\\.)? (?:of |de )?(?<name>${MONTH})${WITH_TIME}`),
  // 20261113, 20261113T204600Z, 20261113_204600
  dateForm(
    `(?<year>(?:19|20|21)\\d\\d)(?<month>0[1-9]|1[0-2])(?<day>0[1-9]|[12]\\d|3[01])(?:[T_-]?(?<hour>[01]\\d|2[0-3])(?<minute>[0-5]\\d)(?:(?<second>[0-5]\\d)(?:\\.(?<fraction>\\d{1,9}))?)?${ZONE}?)?`,
  ),
  // 2026, 11, 13, 20, 46, as programs print the arguments of a date
  dateForm(
    '(?<year>(?:19|20|21)\\d\\d), (?<month>\\d{1,2}), (?<day>\\d{1,2})(?:, (?<hour>\\d{1,2}), (?<minute>\\d{1,2})(?:, (?<second>\\d{1,2}))?)?',
  ),
  { pattern: wholeWords('(?<year>(?:19|20|21)\\d\\d)-(?<ordinal>[0-3]\\d\\d)'), read: dayOfYear },
  { pattern: wholeWords(`${CLOCK}${ZONE}?`), read: timeOfDay },
  { pattern: wholeWords(`(?<weekday>${WEEKDAY})`), read: weekday },
  { pattern: wholeWords(`(?<name>${MONTH})`), read: monthWithoutYear },
  { pattern: wholeWords(`(?<name>${MONTH}),? (?<year>\\d{4})`), read: monthOfYear },
  { pattern: wholeWords('(?<year>\\d{4})-(?<month>0[1-9]|1[0-2])'), read: monthOfYear },
  {
    pattern: wholeWords(
      '(?<year>(?:19|20|21)\\d\\d)-?W(?<week>0[1-9]|[1-4]\\d|5[0-3])(?:-(?<weekday>[1-7]))?',
    ),
    read: isoWeek,
  },
  { pattern: wholeWords('(?<year>(?:19|20|21)\\d\\d)[- ]?Q(?<quarter>[1-4])'), read: quarter },
  { pattern: wholeWords('(?<year>(?:19|20|21)\\d\\d)'), read: year },
]

function dateForm(source: string): CalendarForm {
  return { pattern: wholeWords(AFTER_WEEKDAY + source), read: dateAndTime }
}

/** A date may be part of a file name, so that only letters next to letters and digits next to digits are excluded. */
function wholeWords(source: string): RegExp {
  return new RegExp(
    `(?:(?<![a-z])(?=[a-z])|(?<!\\d|\\d[.:])(?=\\d))${source}(?:(?<=[a-zì.])(?![a-z])|(?<=[\\d)日])(?!\\d|:\\d))`,
    'gi',
  )
}

function dateAndTime(fields: Fields, text: string, around: number): readonly TimeReading[] {
  const day = dayOf(fields, around)
  if (day === undefined || !isOnWeekday(fields['weekday'], day)) return []
  const form = formOf(text, fields)
  const time = timeIn(fields)
  if (time === undefined) return [{ kind: 'day', form, day }]
  const { at, precision } = time
  const offset = offsetOf(fields['zone'])
  return [{ kind: 'moment', form, civil: day * LENGTHS.day + at, precision, offset, onlyNow: false }]
}

/** A week without the number of a day is known by its Monday. The first week of a year has 4 January in it. */
function isoWeek(
  { year: digits, week, weekday: number = '1' }: Fields,
  text: string,
): readonly TimeReading[] {
  const january = dayNumber(Number(digits), 0, 4)
  if (january === undefined) return []
  const monday = january - ((january + EPOCH_WEEKDAY + 6) % 7) + (Number(week) - 1) * 7
  return [{ kind: 'day', form: text.replaceAll(/\d/g, '0'), day: monday + Number(number) - 1 }]
}

/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4

function dayOfYear({ year: digits, ordinal }: Fields, text: string): readonly TimeReading[] {
  const first = dayNumber(Number(digits), 0, 1)
  const count = Number(ordinal)
  if (first === undefined || count < 1 || count > 366) return []
  return [{ kind: 'day', form: text.replaceAll(/\d/g, '0'), day: first + count - 1 }]
}

/** Finds a number that the name of its field calls a part of a date or time, such as `month`. */
export function partTokens(text: string, key: string): readonly TimeToken[] {
  const unit = PARTS[/[a-z]+$/.exec(key.toLowerCase())?.[0] ?? '']
  if (unit === undefined || !/^\d{1,3}$/.test(text)) return []
  return [{ start: 0, end: text.length, readings: [{ kind: 'part', form: unit, unit, value: Number(text) }] }]
}

const PARTS: Readonly<Record<string, PartReading['unit']>> = {
  month: 'month',
  day: 'day',
  weekday: 'weekday',
  hour: 'hour',
  hours: 'hour',
  minute: 'minute',
  minutes: 'minute',
  second: 'second',
  seconds: 'second',
}

function quarter({ year: digits, quarter: number }: Fields, text: string): readonly TimeReading[] {
  const value = Number(digits) * 4 + Number(number) - 1
  return [{ kind: 'quarter', form: text.replaceAll(/\d/g, '0'), value, cycle: Infinity }]
}

function dayOf(fields: Fields, around: number): DayReading['day'] | undefined {
  const month = monthOf(fields)
  const day = Number(fields['day'])
  if (fields['year'] !== undefined) return dayNumber(fullYear(fields['year']), month, day)
  const thisYear = new Date(around).getUTCFullYear()
  return [thisYear - 1, thisYear, thisYear + 1]
    .map((one) => dayNumber(one, month, day))
    .filter((one) => one !== undefined)
    .toSorted(
      (one, other) => Math.abs(one * LENGTHS.day - around) - Math.abs(other * LENGTHS.day - around),
    )[0]
}

function fullYear(digits: string): number {
  return digits.length === 2 ? 2000 + Number(digits) : Number(digits)
}

function monthOf({ month, name }: Fields): number {
  return name === undefined ? Number(month) - 1 : placeOf(name, MONTHS, FOREIGN_MONTHS)
}

/** Returns `undefined` for a day that does not exist. */
function dayNumber(fullYearNumber: number, month: number, day: number): number | undefined {
  const at = new Date(Date.UTC(fullYearNumber, month, day))
  return at.getUTCMonth() === month && at.getUTCDate() === day ? at.getTime() / LENGTHS.day : undefined
}

function isOnWeekday(name: string | undefined, day: number): boolean {
  return name === undefined || weekdayOf(name) === new Date(day * LENGTHS.day).getUTCDay()
}

function weekdayOf(name: string): number {
  return placeOf(name, WEEKDAYS, FOREIGN_WEEKDAYS)
}

/** The place of a month or weekday among its kind. */
function placeOf(name: string, short: readonly string[], foreign: ReadonlyMap<string, number>): number {
  return foreign.get(name.toLowerCase()) ?? short.indexOf(shortName(name))
}

function placesOfNames(languages: readonly string[]): ReadonlyMap<string, number> {
  return new Map(languages.flatMap((names) => names.split(' ').map((name, at) => [name, at] as const)))
}

function anyOf(names: ReadonlyMap<string, number>): string {
  return [...names.keys()].toSorted((one, other) => other.length - one.length).join('|')
}

function shortName(name: string): string {
  return name.slice(0, 3).toLowerCase()
}

function timeIn({
  hour,
  minute,
  second,
  fraction,
  half,
}: Fields): { at: number; precision: number } | undefined {
  if (hour === undefined) return undefined
  const isAfternoon = half?.toLowerCase().startsWith('p') === true
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon ? 12 : 0)
  const at =
    hours * LENGTHS.hour +
    Number(minute) * LENGTHS.minute +
    Number(`${second ?? 0}.${fraction ?? 0}`) * LENGTHS.second
  if (second === undefined) return { at, precision: LENGTHS.minute }
  return { at, precision: Math.max(1, LENGTHS.second / 10 ** (fraction?.length ?? 0)) }
}

function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined) return undefined
  const {
    sign,
    hours,
    minutes = '0',
  } = /(?<sign>[+-])(?<hours>\d\d):?(?<minutes>\d\d)?/.exec(zone)?.groups ?? {}
  if (hours === undefined)
    return (NAMED_ZONES[/[A-Z]+/i.exec(zone)?.[0].toUpperCase() ?? ''] ?? 0) * LENGTHS.hour
  const distance = Number(hours) * LENGTHS.hour + Number(minutes) * LENGTHS.minute
  return sign === '-' ? -distance : distance
}

function timeOfDay(fields: Fields, text: string): readonly TimeReading[] {
  const { at: time, precision } = timeIn(fields) ?? { at: 0, precision: 0 }
  const { zone, half, second } = fields
  // In `10:00-11:00`, the second time is the end of a range and not a zone.
  if (zone !== undefined && second === undefined && /^ ?[+-]/.test(zone)) return []
  const isCertain = zone !== undefined || half !== undefined
  return [
    { kind: 'time-of-day', form: formOf(text, fields), time, precision, offset: offsetOf(zone), isCertain },
  ]
}

function weekday({ weekday: name = '' }: Fields, text: string): readonly TimeReading[] {
  return [{ kind: 'weekday', form: formOf(text, {}), value: weekdayOf(name), cycle: 7 }]
}

function monthWithoutYear(fields: Fields, text: string): readonly TimeReading[] {
  return [{ kind: 'month', form: formOf(text, {}), value: monthOf(fields), cycle: 12 }]
}

function monthOfYear(fields: Fields, text: string): readonly TimeReading[] {
  const value = Number(fields['year']) * 12 + monthOf(fields)
  return [{ kind: 'month', form: formOf(text, {}), value, cycle: Infinity }]
}

function year(fields: Fields): readonly TimeReading[] {
  return [{ kind: 'year', form: 'year', value: Number(fields['year']), cycle: Infinity }]
}

/** Describes how a time is written: `2026-11-13T20:46Z` has the form `#-#-#T#:#Z`. */
function formOf(text: string, { zone = '' }: Fields): string {
  const withoutZone = zone === '' ? text : text.replace(zone, '\u0000')
  return withoutZone
    .replaceAll(/\p{L}+(?:-feira)?/gu, wordForm)
    .replaceAll(/\d+/g, '#')
    .replace(/(?<=#:#:#)[.,]#/, '') // Some servers omit a fraction that is zero.
    .replaceAll(/ +/g, ' ')
    .replace('\u0000', zoneForm(zone))
}

function wordForm(word: string): string {
  const short = shortName(word)
  const isForeign = FOREIGN_MONTHS.has(word.toLowerCase()) || FOREIGN_WEEKDAYS.has(word.toLowerCase())
  const isName = isForeign || (word.length > 2 && (MONTHS.includes(short) || WEEKDAYS.includes(short)))
  if (/^(?:st|nd|rd|th)$/i.test(word)) return 'th'
  if (/^[ap]m?$/i.test(word)) return word.toLowerCase() === word ? 'am' : 'AM'
  if (!isName) return word
  const letters = word.toUpperCase() === word ? 'XX' : word.toLowerCase() === word ? 'xx' : 'Xx'
  if (isForeign) return letters
  // May is both the name and its short form.
  return word.length === 3 || short === 'may' ? (short === 'may' ? `${letters}?` : `${letters}.`) : letters
}

function zoneForm(zone: string): string {
  return zone
    .replace(/\(.*\)/, '()')
    .replace(/[+-]/, '+')
    .replaceAll(/\d+/g, '#')
    .replace(/[A-Z]{3,4}/i, (name) => (name === 'GMT' ? name : 'ZONE'))
}
