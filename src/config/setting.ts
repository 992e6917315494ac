import { similarName } from '../text.ts'
import { errorMessage, ReelayError } from '../errors.ts'
import { isObject } from '../json/parse.ts'
import { formatPath } from '../json/path.ts'
import { parseDuration } from '../text.ts'

/** A path to a value in a config. */
export type ConfigPath = readonly (string | number)[]

/** The content of a config file, and how to locate a value in it. */
export interface ConfigSource {
  readonly file: string
  readonly value: unknown
  /** As `file, line 2, column 9`. */
  readonly locate: (path: ConfigPath, part: 'name' | 'value') => string
  /** What to do about an invalid value, if the file is not the project config. */
  readonly hint?: string
}

/** A value of a config. Each method reads it as one type and throws, with its location, if it is another. */
export class Setting {
  readonly #source: ConfigSource
  readonly #path: ConfigPath
  readonly value: unknown

  constructor(text: ConfigSource, value: unknown, path: ConfigPath) {
    this.#source = text
    this.value = value
    this.#path = path
  }

  /** The members of a map. Names may be in snake_case. Unknown names are rejected. */
  members<Name extends string>(known: readonly Name[]): Readonly<Partial<Record<Name, Setting>>> {
    if (!isObject(this.value)) throw this.invalid('is not a map')
    const found: Partial<Record<Name, Setting>> = {}
    for (const [written, value] of Object.entries(this.value)) {
      const setting = new Setting(this.#source, value, [...this.#path, written])
      const name = known.find((one) => one === toCamelCase(written))
      if (name === undefined) throw setting.#unknownName(written, known)
      if (found[name] !== undefined) throw setting.#invalid('name', 'is given twice')
      found[name] = setting
    }
    return found
  }

  /** The only member of a map, which names a choice, such as `tool: search`. A text is a choice without a value. */
  choice<Name extends string>(known: readonly Name[]): readonly [Name, Setting] {
    const [name, ...more] = typeof this.value === 'string' ? [] : typedEntries(this.members(known))
    if (name !== undefined && more.length === 0) return name
    const word = known.find((one) => one === toCamelCase(String(this.value)))
    if (word === undefined) throw this.invalid(`must be one of ${known.join(', ')}`)
    return [word, new Setting(this.#source, undefined, this.#path)]
  }

  /** The members of a map with names of any kind, such as methods. */
  entries(): readonly (readonly [name: string, Setting])[] {
    if (!isObject(this.value)) throw this.invalid('is not a map')
    return Object.entries(this.value).map(([name, value]) => [
      name,
      new Setting(this.#source, value, [...this.#path, name]),
    ])
  }

  items(): readonly Setting[] {
    if (!Array.isArray(this.value)) throw this.invalid('is not a list')
    return this.value.map((item: unknown, place) => new Setting(this.#source, item, [...this.#path, place]))
  }

  text(): string {
    if (typeof this.value === 'string' && this.value !== '') return this.value
    throw this.invalid('is not a non-empty string')
  }

  texts(): readonly string[] {
    return this.items().map((item) => item.text())
  }

  flag(): boolean {
    if (typeof this.value === 'boolean') return this.value
    throw this.invalid('is not true or false')
  }

  /** A number that is not negative. */
  number(): number {
    if (typeof this.value === 'number' && Number.isFinite(this.value) && this.value >= 0) return this.value
    throw this.invalid('is not a number of at least 0')
  }

  /** Milliseconds: a number of them, or `100ms`, `1.5s`, `2m`. */
  duration(): number {
    const ms = parseDuration(this.value)
    if (ms !== undefined) return ms
    throw this.invalid('is not a duration such as 100 (milliseconds), 100ms or 1s')
  }

  /** A whole number that counts something. */
  count(): number {
    if (Number.isSafeInteger(this.value) && this.number() > 0) return this.number()
    throw this.invalid('is not a whole number above 0')
  }

  /** A function, which only a module can contain. Its errors are reported with its location. */
  function(): (...given: readonly unknown[]) => unknown {
    const { value } = this
    if (isFunction(value)) return (...given) => this.as(() => value(...given))
    throw this.invalid('is not a function; only a config in JavaScript can contain one')
  }

  /** The location, for error messages. */
  get location(): string {
    return this.#source.locate(this.#path, 'name')
  }

  /** Returns the result of `read`. Adds the location to its error. */
  as<Result>(read: (setting: this) => Result): Result {
    try {
      return read(this)
    } catch (error) {
      if (error instanceof ReelayError && error.message.startsWith(this.#source.file)) throw error
      throw this.invalid(`cannot be used: ${errorMessage(error)}`, error)
    }
  }

  /** The error for an invalid value. */
  invalid(why: string, cause?: unknown): ReelayError {
    return this.#invalid('value', why, cause)
  }

  /** The error for an invalid value inside of this one. */
  invalidAt(path: ConfigPath, why: string): ReelayError {
    return new Setting(this.#source, undefined, [...this.#path, ...path]).invalid(why)
  }

  #unknownName(written: string, known: readonly string[]): ReelayError {
    const similar = similarName(toCamelCase(written), known)
    if (similar === undefined) return this.#invalid('name', `is unknown; expected one of ${known.join(', ')}`)
    const error = this.#invalid('name', 'is unknown')
    return new ReelayError(error.code, error.message, {
      hint: `did you mean ${similar}? Known here: ${known.join(', ')}`,
    })
  }

  #invalid(part: 'name' | 'value', why: string, cause?: unknown): ReelayError {
    const place = this.#source.locate(this.#path, part)
    const name = this.#path.length === 0 ? 'it' : `"${formatPath(this.#path)}"`
    return new ReelayError('SETTINGS_INVALID', `${place}: ${name} ${why}`, {
      hint:
        (cause instanceof ReelayError && cause.hint) ||
        (this.#source.hint ?? 'docs/reference/config.md lists all sections and their members'),
      cause,
    })
  }
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === 'function'
}

function typedEntries<Name extends string>(
  members: Readonly<Partial<Record<Name, Setting>>>,
): readonly (readonly [Name, Setting])[] {
  return Object.entries(members) as unknown as readonly (readonly [Name, Setting])[]
}

/** Converts snake_case. A name that mixes both spellings is not converted, so that the schema can list all that are accepted. */
function toCamelCase(name: string): string {
  return /[A-Z]/.test(name) ? name : name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
