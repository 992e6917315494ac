import { ReelayError } from '../../errors.ts'
import { parseJson } from '../../json/parse.ts'
import { parseJsonPath } from './json-path.ts'
import type { TransformRule } from './rule.ts'

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
