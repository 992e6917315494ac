import { ReelayError } from '../../errors.ts'
import { parseJson } from '../../json/parse.ts'
import { type PathPattern, parsePath } from '../../json/path.ts'
import type { Message } from '../../protocol/message.ts'

/** A change to what is sent, and when it is made. */
export interface TransformRule {
  readonly name: string
  readonly when: TransformCondition
  readonly action: TransformAction
}

/** What a rule looks at: a message of the client on its way out. */
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
  /** Something stands at the path in the params; with `equals`, this value. */
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
  /** Of the answer that came back, before it is judged. */
  | { readonly kind: 'set-result'; readonly path: PathPattern; readonly value: unknown }
  /** The message is not sent: this error stands for its answer. */
  | { readonly kind: 'inject-error'; readonly code: number; readonly message: string }
  | { readonly kind: 'rename-method'; readonly to: string }
  /** Milliseconds. */
  | { readonly kind: 'delay'; readonly by: number }
  /** Writes the time now, as an ISO date, or as milliseconds where a number stood. */
  | { readonly kind: 'set-timestamp'; readonly path: PathPattern }

type Environment = Readonly<Record<string, string | undefined>>

/** Reads `tools/call:$.arguments.q=milk` or `tools/call:search:$.arguments.q="milk"`; what is no JSON is text. */
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
  return new ReelayError('USAGE', `--set ${JSON.stringify(text)} names a tool of a method that has none`, {
    hint: "only tools/call has tools: leave the name out, as in 'prompts/get:$.arguments.q=milk'",
  })
}

/** Puts the values of the environment in the place of `${env.NAME}`. */
export function withEnvironment(text: string, env: Environment): string {
  return text.replaceAll(/\$\{env\.(\w+)\}/g, (_, name: string) => {
    const value = env[name]
    if (value !== undefined) return value
    throw new ReelayError('USAGE', `the environment has no ${name}, which \${env.${name}} asks for`, {
      hint: 'set the variable, or write the value itself',
    })
  })
}

/** Reads `$.arguments.q` and `$["a b"][0]`, where `$` is the params of a message; `arguments.q` is the same. */
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
