import fc from 'fast-check'
import { TOML_WAYS } from './toml-ways.ts'

/** A config text as people and programs leave them behind, and where things stand in it. */
export interface OddConfig {
  readonly text: string
  readonly servers: readonly OddServer[]
  /** Where a further server can be put by hand. */
  readonly roomAt: number
  readonly further: string
}

interface OddServer {
  readonly name: string
  readonly words: readonly [command: string, ...args: string[]]
  /** The bytes of the whole entry. */
  readonly start: number
  readonly end: number
}

interface Wish {
  readonly name: string
  readonly command: string
  readonly args: readonly string[] | undefined
  readonly commandLast: boolean
}

const word = fc.oneof(
  fc.constantFrom(
    'npx',
    '-y',
    '--',
    'record',
    '--bridge',
    '${input:key}',
    '${VAR:-none}',
    'a "b" \\ c',
    'größe 日本 🎉',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !/[\p{Cc}\p{Cs}']/u.test(text)),
)
const serverName = fc.oneof(
  fc.constantFrom('linear', 'a.b', 'größe', 'with space'),
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 }),
)
const wishes = fc.uniqueArray(
  fc.record({
    name: serverName.filter((text) => text !== '__proto__'),
    command: word,
    args: fc.option(fc.array(word, { maxLength: 3 }), { nil: undefined }),
    commandLast: fc.boolean(),
  }),
  { selector: (wish) => wish.name, minLength: 1, maxLength: 4 },
)
const dress = fc.record({
  crlf: fc.boolean(),
  mark: fc.boolean(),
  trailing: fc.boolean(),
  spell: fc.boolean(),
})

/** JSON with comments, odd spaces, both line ends, a byte order mark and trailing commas. */
export const oddJson: fc.Arbitrary<OddConfig> = fc
  .tuple(
    wishes,
    dress,
    fc.array(fc.constantFrom('', ' ', '\n', '\t', '  ', '/* ü */', '// {"[,\n'), {
      minLength: 1,
      maxLength: 30,
    }),
  )
  .map(([servers, { crlf, mark, trailing }, gaps]) => {
    const pen = new Pen(crlf, mark)
    let at = 0
    const gap = (): string => gaps[at++ % gaps.length] ?? ''
    const comma = (isLast: boolean): string => (isLast && !trailing ? '' : `${gap()},`)
    pen.put(
      `${gap()}{${gap()}"before"${gap()}:${gap()}[1, {"command": "x"}],${gap()}"mcpServers"${gap()}:${gap()}{`,
    )
    const roomAt = pen.length
    servers.forEach((wish, index) => {
      const isLast = index === servers.length - 1
      pen.put(gap())
      pen.server(wish, () => {
        const list = wish.args?.map(
          (arg, each, all) => gap() + JSON.stringify(arg) + comma(each === all.length - 1),
        )
        const members = [
          `"command"${gap()}:${gap()}${JSON.stringify(wish.command)}`,
          ...(list === undefined ? [] : [`"args"${gap()}:${gap()}[${list.join('')}${gap()}]`]),
          '"env": { "KEY": "${input:key}" }',
        ]
        const ordered = wish.commandLast ? members.toReversed() : members
        const body = ordered.map((member, each, all) => gap() + member + comma(each === all.length - 1))
        return `${JSON.stringify(wish.name)}${gap()}:${gap()}{${body.join('')}${gap()}}`
      })
      pen.put(comma(isLast))
    })
    pen.put(`${gap()}}${gap()}}${gap()}`)
    return pen.config(roomAt, '"added by hand": { "command": "new", "args": [] }, ')
  })

/** TOML in its five ways to write a server, with comments, both kinds of strings and lists over several lines. */
export const oddToml: fc.Arbitrary<OddConfig> = fc
  .tuple(
    wishes,
    dress,
    fc.constantFrom(...TOML_WAYS),
    fc.array(fc.constantFrom('', ' ', '\n', '\n  ', '\n# "[\n', '\t'), { minLength: 1, maxLength: 20 }),
  )
  .map(([servers, { crlf, mark, trailing, spell }, { opening, entry, further }, gaps]) => {
    const pen = new Pen(crlf, mark)
    let at = 0
    const gap = (): string => gaps[at++ % gaps.length] ?? ''
    const text = (value: string): string => (spell ? `'${value}'` : JSON.stringify(value))
    pen.put(`# a config\nmodel = "x"\n${opening}`)
    const roomAt = pen.length
    for (const wish of servers) {
      pen.server(wish, () => {
        const list = wish.args?.map((arg, each, all) => {
          const isLast = each === all.length - 1
          return `${gap()}${text(arg)}${isLast && !trailing ? '' : ','}`
        })
        return entry(JSON.stringify(wish.name), text(wish.command), list && `[${list.join('')}${gap()}]`)
      })
    }
    pen.put(`[after]\ncommand = "untouched"\n`)
    return pen.config(roomAt, further)
  })

/** Writes a text and remembers where servers stand in it. */
class Pen {
  readonly #crlf: boolean
  readonly #servers: OddServer[] = []
  #text: string

  constructor(crlf: boolean, mark: boolean) {
    this.#crlf = crlf
    this.#text = mark ? '\uFEFF' : ''
  }

  get length(): number {
    return this.#text.length
  }

  put(text: string): void {
    this.#text += this.#crlf ? text.replaceAll('\n', '\r\n') : text
  }

  server({ name: called, command, args = [] }: Wish, write: () => string): void {
    const start = this.length
    this.put(write())
    this.#servers.push({ name: called, words: [command, ...args], start, end: this.length })
  }

  config(roomAt: number, further: string): OddConfig {
    return { text: this.#text, servers: this.#servers, roomAt, further }
  }
}
