import { canonicalJson } from '../json/canonical.ts'
import { member } from '../json/parse.ts'
import { calledTool } from '../protocol/message.ts'
import { comparedParams } from './request-key.ts'
import type { ClientCall } from '../tape/turns.ts'

/** Formats a value on one line and truncates it. */
export function describeValue(value: unknown, max = 80): string {
  const text = canonicalJson(value)
  if (text.length <= max) return text
  return `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}… (${text.length} characters)`
}

/** Replaces a long value with its truncated text. */
export function shortenValue(value: unknown, max = 400): unknown {
  return canonicalJson(value).length <= max ? value : describeValue(value, max)
}

type DescribedRequest = Pick<ClientCall, 'method' | 'params'>

/** Formats a request on one line, for example `tools/call echo {"message":"hi"}`. */
export function describeRequest({ method, params }: DescribedRequest, max = 80): string {
  const tool = calledTool({ method, params })
  const shown = tool === undefined ? comparedParams({ method, params }) : member(params, 'arguments')
  return [method, tool, shown === undefined ? undefined : describeValue(shown, max)]
    .filter((word) => word !== undefined)
    .join(' ')
}
