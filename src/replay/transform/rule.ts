import { ReelayError } from '../../errors.ts'
import { parseJson } from '../../json/parse.ts'
import { type PathPattern, parsePath } from '../../json/path.ts'
import type { Message } from '../../protocol/message.ts'

/** Changes messages that meet a condition. */
export interface TransformRule {
  readonly name: string
  readonly when: TransformCondition
  readonly action: TransformAction
}

/** A message of the client before it is sent. */
export interface TransformSubject {
  readonly index: number
  readonly message: Message
  readonly tool: string | undefined
}

export type TransformCondition =
  | { readonly kind: 'always' }
  | { readonly kind: 'method'; readonly equals: string }
  | { readonly kind: 'message-type'; readonly equals: 'request' | 'notification' | 'response' }
  | { readonly kind: 'index'; readonly equals: number }
  | { readonly kind: 'tool'; readonly equals: string }
  /** The params have a value at the path; with `equals`, this value. */
  | { readonly kind: 'path'; readonly path: PathPattern; readonly equals?: unknown }
  | { readonly kind: 'custom'; readonly test: (passing: TransformSubject) => boolean }

export type TransformAction =
  | { readonly kind: 'regenerate-id' }
  | { readonly kind: 'map-id'; readonly from: string | number; readonly to: string | number }
  | { readonly kind: 'set-param'; readonly path: PathPattern; readonly value: unknown }
  | { readonly kind: 'remove-param'; readonly path: PathPattern }
  | {
      readonly kind: 'replace-param'
      readonly path: PathPattern
      readonly pattern: RegExp
      readonly replacement: string
    }
  /** Changes the answer before it is judged. */
  | { readonly kind: 'set-result'; readonly path: PathPattern; readonly value: unknown }
  /** Does not send the message, and takes this error as its answer. */
  | { readonly kind: 'inject-error'; readonly code: number; readonly message: string }
  | { readonly kind: 'rename-method'; readonly to: string }
  /** Milliseconds. */
  | { readonly kind: 'delay'; readonly by: number }
  /** Writes a date, by default the current time: in ISO form, or in milliseconds if the value was a number. */
  | { readonly kind: 'set-timestamp'; readonly path: PathPattern; readonly date?: string }

type Environment = Readonly<Record<string, string | undefined>>

/** Reads `tools/call:$.arguments.q=milk` or `tools/call:search:$.arguments.q="milk"`; a value that is not JSON is a string. */
export function parseSetRule(text: string, env: Environment): TransformRule {
  const found = /^(?<method>[^:=]+):(?:(?<tool>[^:=$]+):)?(?<path>\$[^=]*)=(?<value>.*)$/s.exec(text)?.groups
  if (found === undefined)
    throw new ReelayError('USAGE', `cannot read --set ${JSON.stringify(text)}`, {
      hint: "write it like 'tools/call:$.arguments.q=milk', or for one tool 'tools/call:search:$.arguments.q=milk'",
    })
  const { method = '', tool, path = '$', value = '' } = found
  if (tool !== undefined && method !== 'tools/call') throw toolNotAllowed(text)
  const plain = withEnvironment(value, env)
  const json = parseJson(plain)
  return {
    name: `--set ${tool === undefined ? method : `${method}:${tool}`}:${path}`,
    when: tool === undefined ? { kind: 'method', equals: method } : { kind: 'tool', equals: tool },
    action: { kind: 'set-param', path: parseJsonPath(path), value: json === undefined ? plain : json },
  }
}

function toolNotAllowed(text: string): ReelayError {
  return new ReelayError('USAGE', `--set ${JSON.stringify(text)} names a tool, but the method has no tools`, {
    hint: "only tools/call has tools: leave the name out, as in 'prompts/get:$.arguments.q=milk'",
  })
}

/** Replaces `${env.NAME}` with the value of the variable. */
export function withEnvironment(text: string, env: Environment): string {
  return text.replaceAll(/\$\{env\.(\w+)\}/g, (_, name: string) => {
    const value = env[name]
    if (value !== undefined) return value
    throw new ReelayError(
      'USAGE',
      `the environment variable ${name} is not set, but \${env.${name}} needs it`,
      {
        hint: 'set the variable, or write the value itself',
      },
    )
  })
}

/** Reads `$.arguments.q` and `$["a b"][0]`, where `$` is the params of a message. `$` may be left out. */
export function parseJsonPath(text: string): PathPattern {
  if (text === '$') return []
  const path = text.startsWith('$') ? text.slice(text.startsWith('$.') ? 2 : 1) : text
  try {
    return parsePath(path)
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    throw new ReelayError(error.code, error.message, { hint: JSON_PATH_HINT, cause: error })
  }
}

const JSON_PATH_HINT =
  'write it like $.arguments.limit, $.arguments.items[0].id, $.arguments.items[*].id or $.arguments["a.b"]; $ is the params, or the result of setResult'
