import { canonicalJson } from '../wire/canonical.ts'
import { member } from '../wire/message.ts'
import { comparedParams, type Asked } from './key.ts'

/** A value on one line, cut where it gets long. */
export function brief(value: unknown, max = 80): string {
  const text = canonicalJson(value)
  if (text.length <= max) return text
  return `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}… (${text.length} characters)`
}

/** A long value gives way to its short text; a short one stays what it is. */
export function briefValue(value: unknown, max = 400): unknown {
  return canonicalJson(value).length <= max ? value : brief(value, max)
}

type Call = Pick<Asked, 'method' | 'params'>

/** A request in a few words: `tools/call echo {"message":"hi"}`. */
export function briefRequest({ method, params }: Call, max = 80): string {
  const tool = toolOf({ method, params })
  const told = tool === undefined ? comparedParams({ method, params }) : member(params, 'arguments')
  return [method, tool, told === undefined ? undefined : brief(told, max)]
    .filter((word) => word !== undefined)
    .join(' ')
}

/** The tool that a request calls. */
export function toolOf({ method, params }: Call): string | undefined {
  const name = method === 'tools/call' ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}
