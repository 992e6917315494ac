import { isObject } from '../wire/message.ts'
import type { Problem } from './line-checks.ts'
import type { About, Label } from './tape-index.ts'

/** Reads the labels of an index file; none when they are no list of names. */
export function readLabels(value: unknown): readonly Label[] | undefined {
  if (!Array.isArray(value)) return undefined
  const labels = value.map(readLabel)
  return labels.every((label) => label !== undefined) ? labels : undefined
}

function readLabel(value: unknown): Label | undefined {
  if (!isTexts(value) || value.length !== 2) return undefined
  const [server = '', method = ''] = value
  return { server, method }
}

/** Reads what an index file says of the tape as a whole. */
export function readAbout(value: unknown): About | undefined {
  if (!isObject(value)) return undefined
  const { ended, problems, joined } = value
  if (typeof ended !== 'boolean' || !Array.isArray(problems) || !isTexts(joined)) return undefined
  return problems.every(isProblem) ? { ended, problems, joined } : undefined
}

function isProblem(value: unknown): value is Problem {
  return isObject(value) && typeof value['line'] === 'number' && typeof value['why'] === 'string'
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
