import type { Setting } from '../../config/setting.ts'
import type { AddedHeader } from '../../http/headers.ts'
import type { ListenAddress } from '../../http/server/http-server.ts'
import { newTapeArgument } from '../../store/home.ts'
import { parseDuration } from '../../text.ts'
import { usageError, type Environment, type SwitchType, type ValueType } from './option.ts'

/** A switch that turns something on. */
export const switchOn: SwitchType<true> = { kind: 'switch', on: true, schema: { type: 'boolean' } }
/** A switch that turns something off, such as `--no-redact`. */
export const switchOff: SwitchType<boolean> = {
  kind: 'switch',
  on: false,
  schema: { type: 'boolean' },
  fromConfig: (setting) => setting.flag(),
}
/** A switch with a `--no-…` form, which overrides the config. */
export const toggle: SwitchType<boolean> = {
  kind: 'switch',
  on: true,
  off: false,
  schema: { type: 'boolean' },
  fromConfig: (setting) => setting.flag(),
}

export const textValue: ValueType<string> = {
  kind: 'value',
  name: 'text',
  placeholder: 'text',
  expected: 'a text',
  parse: (given) => given,
  schema: { $ref: '#/$defs/text' },
  fromConfig: (setting) => setting.text(),
}

/** A text that has its own parser, which throws if it is invalid. */
export function checkedText(placeholder: string, check: (text: string) => unknown): ValueType<string> {
  return {
    ...textValue,
    placeholder,
    parse: (given) => {
      check(given)
      return given
    },
  }
}

/** A tape that is written. */
export const newTapeValue: ValueType<string> = { ...textValue, parse: newTapeArgument }

export const fileValue: ValueType<string> = {
  ...textValue,
  name: 'file',
  placeholder: 'file',
  expected: 'the path of a file',
  parse: (given) => (given === '' || given.endsWith('/') || given.endsWith('\\') ? undefined : given),
}

/** The URL of an OpenTelemetry collector. */
export const collectorValue: ValueType<string> = {
  ...textValue,
  name: 'collector',
  placeholder: 'url',
  expected: 'the URL of an OpenTelemetry collector, such as http://127.0.0.1:4318',
  parse: (given) => (/^https?:\/\//i.test(given) && URL.canParse(given) ? given : undefined),
}

/** Names that are separated by commas; the option may also be repeated. */
export const nameList: ValueType<readonly string[]> = {
  kind: 'value',
  name: 'list',
  placeholder: 'names',
  expected: 'names separated by commas',
  parse: (given) => given.split(',').map((name) => name.trim()),
  join: (before, after) => [...before, ...after],
  schema: { type: 'array', items: { $ref: '#/$defs/text' } },
  fromConfig: (setting) => setting.texts(),
}

/** An option that may be repeated, with one value each time. */
export function listOf<Value>(item: ValueType<Value>): ValueType<readonly Value[]> {
  const { parse, fromConfig, schema = {} } = item
  return {
    kind: 'value',
    name: item.name,
    placeholder: item.placeholder,
    expected: item.expected,
    parse: (given, env) => {
      const value = parse(given, env)
      return value === undefined ? undefined : [value]
    },
    join: (before, after) => [...before, ...after],
    schema: { type: 'array', items: schema },
    ...(fromConfig && {
      fromConfig: (setting: Setting, env: Environment) =>
        setting.items().map((each) => fromConfig(each, env)),
    }),
  }
}

export function choiceOf<Word extends string>(...words: readonly Word[]): ValueType<Word> {
  return {
    kind: 'value',
    name: 'value',
    placeholder: 'value',
    choices: words,
    expected: orList(words),
    parse: (given) => words.find((word) => word === given),
    schema: { enum: words },
    fromConfig: (setting) => setting.choice(words)[0],
  }
}

/** `a, b or c`. */
function orList(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ')
}

const MAX_COUNT = 1_000_000_000

/** A whole number from 1. */
export function countValue(max: number = MAX_COUNT): ValueType<number> {
  return {
    kind: 'value',
    name: 'number',
    placeholder: 'n',
    expected: max === MAX_COUNT ? 'a whole number from 1' : `a whole number from 1 to ${max}`,
    parse: (given) => (/^\d+$/.test(given) && inRange(Number(given), 1, max) ? Number(given) : undefined),
    schema: { type: 'integer', minimum: 1 },
    fromConfig: (setting) => setting.count(),
  }
}

/** A number that is not negative. */
export function numberValue(max: number = Infinity): ValueType<number> {
  return {
    kind: 'value',
    name: 'number',
    placeholder: 'n',
    expected: max === Infinity ? 'a number from 0' : `a number from 0 to ${max}`,
    parse: (given) =>
      given.trim() !== '' && inRange(Number(given), 0, max) && Number.isFinite(Number(given))
        ? Number(given)
        : undefined,
    schema: { type: 'number', minimum: 0, ...(max < Infinity && { maximum: max }) },
    fromConfig: (setting) => {
      if (setting.number() <= max) return setting.number()
      throw setting.invalid(`is above ${max}`)
    },
  }
}

function inRange(value: number, min: number, max: number): boolean {
  return value >= min && value <= max
}

/** A seed for everything random. */
export const seedValue: ValueType<number> = {
  kind: 'value',
  name: 'seed',
  placeholder: 'n',
  expected: 'a whole number, e.g. 7',
  parse: (given) => (/^\d{1,9}$/.test(given) ? Number(given) : undefined),
  schema: { type: 'integer', minimum: 0, maximum: 999_999_999 },
  fromConfig: (setting) => {
    if (/^\d{1,9}$/.test(String(setting.number()))) return setting.number()
    throw setting.invalid('is not a whole number of at most nine digits')
  },
}

/** Milliseconds, from a text such as `500ms` or `2s`. A number alone is in `unit`. */
export function durationValue(unit: 'ms' | 's' = 'ms', min: number = 0): ValueType<number> {
  return {
    kind: 'value',
    name: 'duration',
    placeholder: 'duration',
    expected: 'e.g. 500ms or 2s',
    parse: (given) => {
      const ms = parseDuration(/^[\d.]+$/.test(given) ? `${given}${unit}` : given)
      return ms === undefined || ms < min ? undefined : ms
    },
    schema: { $ref: '#/$defs/duration' },
    fromConfig: (setting) => setting.duration(),
  }
}

/** Reads `Name: value`, with `${env.NAME}` in the value replaced from the environment. Errors never show the value. */
export const headerValue: ValueType<AddedHeader> = {
  kind: 'value',
  name: 'header',
  placeholder: 'name: value',
  expected: '"Name: value"',
  parse: (given, env) => {
    const colon = given.indexOf(':')
    const name = checkHeaderName(given.slice(0, Math.max(0, colon)).trim())
    const value = given
      .slice(colon + 1)
      .trim()
      .replaceAll(ENV_REFERENCE, (_, variable: string) => env[variable] || missingVariable(name, variable))
    if (value === '') throw invalidHeaderValue(name)
    return { name, value: checkHeaderValue(name, value) }
  },
}

/**
 * Reads `Name=VARIABLE`, and `Name=VARIABLE?` for a header that is left out while the variable is missing or blank. Without
 * the `?`, an empty variable is an empty header, as a client would send it.
 */
export const headerFromVariable: ValueType<readonly AddedHeader[]> = {
  kind: 'value',
  name: 'header',
  placeholder: 'name=variable',
  expected: 'Name=VARIABLE, or Name=VARIABLE? if the variable may be missing',
  parse: (given, env) => {
    const [, name, variable, mark] = /^([^=:\s]+)=([^\s{}?]+)(\?)?$/.exec(given) ?? []
    if (name === undefined || variable === undefined) return undefined
    const value = env[variable]?.trim()
    if (mark !== undefined && !value) return []
    return [
      {
        name: checkHeaderName(name),
        value: checkHeaderValue(name, value ?? missingVariable(name, variable)),
      },
    ]
  },
  join: (before, after) => [...before, ...after],
}

/** The headers by their names in lower case, as HTTP clients expect them. */
export function headerRecord(headers: readonly AddedHeader[]): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]))
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Headers that belong to one connection, or describe the body. */
const CONNECTION_HEADERS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*)$/i
const ENV_REFERENCE = /\$\{env\.([^}]*)\}/g
const HEADER_EXAMPLE =
  "for example --header 'Authorization: Bearer ${env.TOKEN}', with TOKEN in the environment"

function checkHeaderName(name: string): string {
  if (!HEADER_NAME.test(name)) throw usageError('invalid --header (expected "Name: value")', HEADER_EXAMPLE)
  if (CONNECTION_HEADERS.test(name))
    throw usageError(`--header cannot set ${name}, which belongs to the connection`, HEADER_EXAMPLE)
  return name
}

function checkHeaderValue(name: string, value: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw invalidHeaderValue(name)
  return value
}

function missingVariable(name: string, variable: string): never {
  throw usageError(`--header ${name} needs ${variable}, which is not in the environment`, HEADER_EXAMPLE)
}

function invalidHeaderValue(name: string): Error {
  return usageError(`--header ${name} has no value, or characters that a header cannot hold`, HEADER_EXAMPLE)
}

/** `host:port`, `[address]:port` or a port alone. */
export const listenValue: ValueType<ListenAddress> = {
  kind: 'value',
  name: 'address',
  placeholder: 'host:port',
  expected: 'host:port, e.g. 127.0.0.1:8080; a port is 0 to 65535, and 0 selects a free port',
  parse: parseListenAddress,
}

export function parseListenAddress(given: string): ListenAddress | undefined {
  const [, address, host, port] = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(given) ?? []
  if (port === undefined || Number(port) > 65_535) return undefined
  return { host: address ?? host ?? '127.0.0.1', port: Number(port) }
}
