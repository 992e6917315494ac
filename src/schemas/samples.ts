import { readPattern, type PatternTree } from './pattern-language.ts'
import { matchesPattern } from './schema-document.ts'

/** Texts that are valid by a format, and texts that are not. */
const FORMAT_SAMPLES: Readonly<Record<string, readonly string[]>> = {
  date: ['2026-02-28', '2026-02-30', '2026-2-8'],
  time: ['12:30:00Z', '12:30:00.123456789+02:00', '12:30:00', '25:00:00Z', '12:30:00.5+02:00'],
  'date-time': [
    '2026-02-28T12:30:00Z',
    '2026-02-28T12:30:00.123456789+02:00',
    '2026-02-28T12:30:00',
    '2026-02-28',
  ],
  'iso-time': ['12:30:00'],
  'iso-date-time': ['2026-02-28T12:30:00'],
  duration: ['P1D', 'PT5M', 'P1Y2M3DT4H5M6S', '1 day'],
  email: ['a@example.com', 'someone.with+a.long-name@mail.department.example.com', 'a@b', 'a b@example.com'],
  'idn-email': ['a@example.com'],
  hostname: ['example.com', 'a', 'a-long-name.with.many.labels.example.com', '-bad-', 'a_b'],
  'idn-hostname': ['example.com'],
  ipv4: ['127.0.0.1', '255.255.255.255', '256.0.0.1'],
  ipv6: ['::1', '2001:db8::1', '2001:0db8:0000:0000:0000:ff00:0042:8329', 'fe80::zz'],
  uri: [
    'https://example.com/a',
    'urn:a:b',
    'https://user@example.com:8443/a/long/path?with=a&query=too#and-a-fragment',
    '/relative',
    'a b',
  ],
  'uri-reference': ['/relative', '#a', 'a b'],
  'uri-template': ['/a/{b}', '/a/{b'],
  url: ['https://example.com/a', 'ftp:/x'],
  iri: ['https://example.com/a'],
  'iri-reference': ['/a'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123e4567'],
  regex: ['^a$', '['],
  'json-pointer': ['/a/b', '', 'a'],
  'relative-json-pointer': ['0#', '/a'],
  byte: ['YQ==', 'a'],
}

export function formatSamples(format: string): readonly string[] {
  return FORMAT_SAMPLES[format] ?? []
}

export const ALL_FORMAT_SAMPLES: readonly string[] = [
  ...new Set(Object.values(FORMAT_SAMPLES).flatMap((samples) => samples.slice(0, 1))),
]

/** Texts that match a pattern, of several lengths, and changed forms of them. Empty for patterns that are not understood. */
export function patternSamples(source: string): readonly string[] {
  const tree = readPattern(source)
  if (tree === undefined) return []
  const texts = new Set<string>()
  for (const repeats of [0, 1, 2, 3, 7, MOST_REPEATS])
    for (const choice of [0, 1, 2]) texts.add(generate(tree, { repeats, choice }, 0))
  const known = [...texts].filter((text) => text.length <= LONGEST_SAMPLE)
  const changed = known
    .slice(0, 4)
    .flatMap((text) => [
      `${text}x`,
      `x${text}`,
      text.slice(1),
      text.slice(0, -1),
      text.toUpperCase(),
      `${text}0`,
      `${text} `,
    ])
  return [...new Set([...known.filter((text) => matchesPattern(source, text) !== false), ...changed])]
}

const LONGEST_SAMPLE = 400
/** As often as a pattern allows, within reason. */
const MOST_REPEATS = 300

interface SampleChoice {
  readonly repeats: number
  readonly choice: number
}

function generate(tree: PatternTree, how: SampleChoice, depth: number): string {
  if (depth > 40) return ''
  switch (tree.kind) {
    case 'characters': {
      const choices = choicesOf(tree.ranges)
      return choices[how.choice % Math.max(1, choices.length)] ?? ''
    }
    case 'start':
    case 'end':
      return ''
    case 'sequence':
      return tree.items.map((item) => generate(item, how, depth + 1)).join('')
    case 'either':
      return generate(tree.options[how.choice % tree.options.length] ?? NOTHING, how, depth + 1)
    case 'repeat': {
      const most = how.repeats === MOST_REPEATS && tree.most === Infinity ? tree.least + 1 : tree.most
      const times = Math.min(Math.max(tree.least, Math.min(most, how.repeats)), MOST_REPEATS)
      const once = generate(tree.item, how, depth + 1)
      return once.repeat(times)
    }
  }
}

const NOTHING: PatternTree = { kind: 'sequence', items: [] }

/** The first, a middle and the last of the usual characters in some ranges. */
function choicesOf(ranges: readonly (readonly [number, number])[]): readonly string[] {
  const found = CHARACTERS.filter((char) =>
    ranges.some(([first, last]) => first <= (char.codePointAt(0) ?? 0) && (char.codePointAt(0) ?? 0) <= last),
  )
  const [only] = ranges
  if (found.length === 0) return only === undefined ? [] : [String.fromCodePoint(only[0])]
  return [found[0] ?? '', found[Math.floor(found.length / 2)] ?? '', found.at(-1) ?? '']
}

const CHARACTERS = Array.from(
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. /:@#,;+=()[]{}<>!?$%&*~^|\\"\'`é\n',
)
