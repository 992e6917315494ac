import { ReelayError } from '../../errors.ts'
import { JsonNode } from '../../json/node.ts'
import { isObject } from '../../json/parse.ts'

/** A file that is imported. Its views are made once, however many formats look at them. */
export class ImportSource {
  readonly bytes: Uint8Array
  /** Further files of the recording, by their names: formats that are folders have several. */
  readonly companions: ReadonlyMap<string, string>
  readonly #parseYaml: ((text: string) => unknown) | undefined
  #text: string | undefined
  #json: JsonNode | undefined | null = null
  #lines: ImportedLines | undefined
  #yaml: unknown = NOT_READ

  constructor(bytes: Uint8Array, options: ImportSourceOptions = {}) {
    this.bytes = bytes
    this.companions = options.companions ?? new Map()
    this.#parseYaml = options.parseYaml
  }

  /** The file as text, without a byte order mark. Windows shells write UTF-16. */
  get text(): string {
    if (this.#text !== undefined) return this.#text
    const text = decodeText(this.bytes)
    rejectDeepNesting(text)
    return (this.#text = text)
  }

  /** The file as one JSON value, or `undefined`. */
  get json(): JsonNode | undefined {
    if (this.#json === null) this.#json = JsonNode.parse(this.text)
    return this.#json
  }

  /** The file as one JSON value per line. */
  get lines(): ImportedLines {
    this.#lines ??= readLines(this.text)
    return this.#lines
  }

  /** The first lines that are JSON objects: enough to recognise a format. */
  get firstRows(): readonly JsonNode[] {
    return this.lines.rows.slice(0, ROWS_TO_RECOGNISE)
  }

  /** The file as YAML, or `undefined` if it is not a YAML map. */
  get yaml(): unknown {
    if (this.#yaml === NOT_READ) this.#yaml = this.#readYaml()
    return this.#yaml
  }

  /** Why the file is not one JSON object, for formats that are. */
  notJsonObject(): string | undefined {
    if (this.json !== undefined) return this.json.isObject ? undefined : 'not one JSON object'
    return /^\s*[[{]/.test(this.text) && this.lines.rows.length === 0
      ? `not valid JSON: ${jsonProblem(this.text)}`
      : 'not one JSON object'
  }

  #readYaml(): unknown {
    if (this.#parseYaml === undefined || this.json !== undefined || /\0/.test(this.text)) return undefined
    try {
      const value = this.#parseYaml(this.text)
      return isObject(value) ? value : undefined
    } catch {
      return undefined // the reasons that formats give say that it is not YAML
    }
  }
}

export interface ImportSourceOptions {
  readonly companions?: ReadonlyMap<string, string>
  /** Reads YAML. It is passed in, because the library is loaded only for files that may need it. */
  readonly parseYaml?: (text: string) => unknown
}

/** The lines of a file that are JSON objects, and the numbers of the others. */
export interface ImportedLines {
  readonly rows: readonly JsonNode[]
  readonly broken: readonly number[]
}

const NOT_READ: unique symbol = Symbol('not read')
const ROWS_TO_RECOGNISE = 20

function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder().decode(bytes)
}

/** Nesting costs memory for each level, and no recording nests this deep. Quotes are followed, so that brackets in texts do not count. */
function rejectDeepNesting(text: string): void {
  let depth = 0
  let isString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LINE_FEED) isString = false
    else if (isString && code === BACKSLASH) at++
    else if (code === QUOTE) isString = !isString
    else if (isString) continue
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth = Math.max(0, depth - 1)
    if (depth > MAX_DEPTH)
      throw new ReelayError('IMPORT_FAILED', `the file nests more than ${MAX_DEPTH} levels deep`, {
        hint: 'no recording does; check where the file comes from',
      })
  }
}

const MAX_DEPTH = 5000
const LINE_FEED = 10
const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

function readLines(text: string): ImportedLines {
  const rows: JsonNode[] = []
  const broken: number[] = []
  let number = 0
  for (const line of text.split('\n')) {
    number++
    const start = line.trimStart()
    if (start === '') continue
    // Errors of the JSON parser are slow, and other texts can have millions of lines.
    const row = start.startsWith('{') ? JsonNode.parse(start) : undefined
    if (row?.isObject === true) rows.push(row)
    else broken.push(number)
  }
  return { rows, broken }
}

function jsonProblem(text: string): string {
  try {
    JSON.parse(text)
    return 'unknown'
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, MAX_PROBLEM) : 'unknown'
  }
}

const MAX_PROBLEM = 120

/** Milliseconds since 1970. Numbers are seconds or milliseconds; times without a zone are UTC. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? (value < 1e11 ? value * 1000 : value) : undefined
  if (typeof value !== 'string') return undefined
  const zoned = /[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(value) ? `${value.replace(' ', 'T')}Z` : value
  const time = Date.parse(zoned.replace(/(\.\d{3})\d+/, '$1'))
  return Number.isNaN(time) ? undefined : time
}

/** A note about lines that could not be read. */
export function brokenLinesNote({ broken }: ImportedLines): readonly string[] {
  if (broken.length === 0) return []
  const shown = broken.slice(0, MAX_SHOWN_LINES).join(', ')
  const more = broken.length > MAX_SHOWN_LINES ? ` and ${broken.length - MAX_SHOWN_LINES} more` : ''
  return [`skipped ${broken.length === 1 ? 'line' : 'lines'} ${shown}${more}: not a JSON object`]
}

const MAX_SHOWN_LINES = 5

/** Splits a command line into words, as far as quotes tell. It is only shown, and never run. */
export function commandWords(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}
