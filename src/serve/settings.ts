import { ReelayError } from '../errors.ts'
import { isObject, type JsonObject } from '../wire/message.ts'
import type { RequestSelector } from './request-selector.ts'

/** Where a setting stands, for a complaint about it: `faults.yaml:4:5`, or `faults[1]`. */
export type Place = (path: readonly (string | number)[]) => string

/** A setting of a program stands at its path. */
export const inProgram: Place = (path) =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : depth === 0 ? step : `.${step}`))
    .join('')

/** The entries of the list with that name, each with what may be said of it; a file may be nothing but the list. */
export function entriesOf(value: unknown, name: string, place: Place): readonly Entry[] {
  const list = isObject(value) ? value[name] : value
  const at = (index: number): string => place(isObject(value) ? [name, index] : [index])
  if (!Array.isArray(list)) throw invalid(place([]), `there is no list of ${name}`, `begin it with ${name}:`)
  return list.map((entry: unknown, index) => {
    if (!isObject(entry)) throw invalid(at(index), 'this entry is no object', 'write key: value')
    return { entry, at: at(index) }
  })
}

export interface Entry {
  readonly entry: JsonObject
  readonly at: string
}

/** Which requests an entry is about. */
export function selectorOf({ entry, at }: Entry): RequestSelector {
  const { method, tool, params } = entry
  if (method !== undefined && typeof method !== 'string') throw invalid(at, '"method" is not a string')
  if (tool !== undefined && typeof tool !== 'string') throw invalid(at, '"tool" is not a string')
  return {
    ...(method !== undefined && { method }),
    ...(tool !== undefined && { tool }),
    ...(params !== undefined && { params }),
  }
}

/** Refuses what is misspelled. */
export function requireKnown({ entry, at }: Entry, known: readonly string[]): void {
  const odd = Object.keys(entry).find((key) => !known.includes(key))
  if (odd !== undefined)
    throw invalid(at, `${JSON.stringify(odd)} means nothing here`, `it may be ${known.join(', ')}`)
}

export function invalid(at: string, why: string, hint?: string): ReelayError {
  return new ReelayError('SETTINGS_INVALID', `${at}: ${why}`, hint === undefined ? {} : { hint })
}
