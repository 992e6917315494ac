import { canonicalJson } from '../json/canonical.ts'
import { member } from '../json/parse.ts'
import { calledTool } from '../protocol/message.ts'
import { comparedParams } from './request-key.ts'
import type { ClientCall } from '../tape/turns.ts'

/** A value on one line, cut where it gets long. */
export function describeValue(value: unknown, max = 80): string {
  const text = canonicalJson(value)
  if (text.length <= max) return text
  return `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}… (${text.length} characters)`
}

/** A long value gives way to its short text; a short one stays what it is. */
export function shortenValue(value: unknown, max = 400): unknown {
  return canonicalJson(value).length <= max ? value : describeValue(value, max)
}

type DescribedRequest = Pick<ClientCall, 'method' | 'params'>

/** A request in a few words: `tools/call echo {"message":"hi"}`. */
export function describeRequest({ method, params }: DescribedRequest, max = 80): string {
  const tool = calledTool({ method, params })
  const told = tool === undefined ? comparedParams({ method, params }) : member(params, 'arguments')
  return [method, tool, told === undefined ? undefined : describeValue(told, max)]
    .filter((word) => word !== undefined)
    .join(' ')
}
