import { compilePattern, matchesPattern } from './schema-document.ts'

/** Texts that are valid by a format, and texts that are not. */
const FORMAT_SAMPLES: Readonly<Record<string, readonly string[]>> = {
  date: ['2026-02-28', '2026-02-30', '2026-2-8'],
  time: ['12:30:00Z', '12:30:00', '25:00:00Z', '12:30:00.5+02:00'],
  'date-time': ['2026-02-28T12:30:00Z', '2026-02-28T12:30:00', '2026-02-28'],
  'iso-time': ['12:30:00'],
  'iso-date-time': ['2026-02-28T12:30:00'],
  duration: ['P1D', 'PT5M', '1 day'],
  email: ['a@example.com', 'a@b', 'a b@example.com'],
  'idn-email': ['a@example.com'],
  hostname: ['example.com', '-bad-', 'a_b'],
  'idn-hostname': ['example.com'],
  ipv4: ['127.0.0.1', '256.0.0.1'],
  ipv6: ['::1', '2001:db8::1', 'fe80::zz'],
  uri: ['https://example.com/a', 'urn:a:b', '/relative', 'a b'],
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
  try {
    compilePattern(source)
  } catch {
    return []
  }
  const tree = new PatternReader(source).read()
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

type PatternTree =
  | { readonly kind: 'text'; readonly choices: readonly string[] }
  | { readonly kind: 'sequence'; readonly items: readonly PatternTree[] }
  | { readonly kind: 'either'; readonly options: readonly PatternTree[] }
  | { readonly kind: 'repeat'; readonly item: PatternTree; readonly least: number; readonly most: number }

interface SampleChoice {
  readonly repeats: number
  readonly choice: number
}

function generate(tree: PatternTree, how: SampleChoice, depth: number): string {
  if (depth > 40) return ''
  switch (tree.kind) {
    case 'text':
      return tree.choices[how.choice % Math.max(1, tree.choices.length)] ?? ''
    case 'sequence':
      return tree.items.map((item) => generate(item, how, depth + 1)).join('')
    case 'either':
      return generate(
        tree.options[how.choice % tree.options.length] ?? { kind: 'text', choices: [] },
        how,
        depth + 1,
      )
    case 'repeat': {
      const most = how.repeats === MOST_REPEATS && tree.most === Infinity ? tree.least + 1 : tree.most
      const times = Math.min(Math.max(tree.least, Math.min(most, how.repeats)), MOST_REPEATS)
      const once = generate(tree.item, how, depth + 1)
      return once.repeat(times)
    }
  }
}

/** Reads the usual part of regular expressions. Gives up on lookarounds, back references and properties. */
class PatternReader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  read(): PatternTree | undefined {
    try {
      const tree = this.#either(0)
      return this.#at === this.#source.length ? tree : undefined
    } catch {
      return undefined // not understood
    }
  }

  #either(depth: number): PatternTree {
    if (depth > 40) throw new Error('too deep')
    const options = [this.#sequence(depth)]
    while (this.#source[this.#at] === '|') {
      this.#at++
      options.push(this.#sequence(depth))
    }
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: 'either', options }
  }

  #sequence(depth: number): PatternTree {
    const items: PatternTree[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? ''))
      items.push(this.#quantified(depth))
    return { kind: 'sequence', items }
  }

  #quantified(depth: number): PatternTree {
    const item = this.#atom(depth)
    const [text, least, comma, most] =
      /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/u.exec(this.#source.slice(this.#at)) ?? []
    if (text === undefined) return item
    this.#at += text.length
    if (text.startsWith('*')) return { kind: 'repeat', item, least: 0, most: Infinity }
    if (text.startsWith('+')) return { kind: 'repeat', item, least: 1, most: Infinity }
    if (text.startsWith('?')) return { kind: 'repeat', item, least: 0, most: 1 }
    const from = Number(least)
    const to = comma === '' ? from : most === '' ? Infinity : Number(most)
    return { kind: 'repeat', item, least: from, most: to }
  }

  #atom(depth: number): PatternTree {
    const char = this.#source[this.#at++] ?? ''
    if (char === '^' || char === '$') return { kind: 'text', choices: [''] }
    if (char === '.') return { kind: 'text', choices: ['a', '0', '-'] }
    if (char === '(') return this.#group(depth)
    if (char === '[') return { kind: 'text', choices: this.#charactersOfClass() }
    if (char === '\\') return { kind: 'text', choices: this.#escape() }
    if ('*+?{'.includes(char)) throw new Error('not understood')
    return { kind: 'text', choices: [char] }
  }

  #group(depth: number): PatternTree {
    const [name] = /^\?(?:<[^=!][^>]*>|:)/u.exec(this.#source.slice(this.#at)) ?? []
    if (name !== undefined) this.#at += name.length
    else if (this.#source[this.#at] === '?') throw new Error('not understood')
    const tree = this.#either(depth + 1)
    if (this.#source[this.#at++] !== ')') throw new Error('not closed')
    return tree
  }

  #escape(): readonly string[] {
    const char = this.#source[this.#at++] ?? ''
    const known = ESCAPES[char]
    if (known !== undefined) return known
    if (/[bBkpPux1-9cA-Z]/u.test(char)) throw new Error('not understood')
    return [char]
  }

  #charactersOfClass(): readonly string[] {
    const end = this.#endOfClass()
    const source = `[${this.#source.slice(this.#at, end)}]`
    this.#at = end + 1
    const pattern = compilePattern(source)
    const found = CHARACTERS.filter((char) => pattern.test(char))
    if (found.length === 0) throw new Error('no character found')
    return [found[0] ?? '', found[Math.floor(found.length / 2)] ?? '', found.at(-1) ?? '']
  }

  #endOfClass(): number {
    for (let at = this.#at; at < this.#source.length; at++) {
      if (this.#source[at] === '\\') at++
      else if (this.#source[at] === ']' && at > this.#at) return at
    }
    throw new Error('not closed')
  }
}

const CHARACTERS = Array.from(
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. /:@#,;+=()[]{}<>!?$%&*~^|\\"\'`é\n',
)

const ESCAPES: Readonly<Record<string, readonly string[]>> = {
  d: ['0', '5', '9'],
  w: ['a', 'Z', '0'],
  s: [' '],
  D: ['a', '-'],
  W: ['-', ' '],
  S: ['a', '0'],
  n: ['\n'],
  t: ['\t'],
  r: ['\r'],
}
