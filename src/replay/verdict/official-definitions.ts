import { isObject, member, type Response } from '../../protocol/message.ts'

/** Finds in an official schema what an answer, or another word of the server, has to be. */
export class OfficialDefinitions {
  readonly #holder: '$defs' | 'definitions'
  readonly #definitions: object
  /** The name of the result of each method. */
  readonly #results: ReadonlyMap<string, string>
  /** The name of each notification and request of a server, by its method. */
  readonly #messages: ReadonlyMap<string, string>

  constructor(schema: object) {
    this.#holder = '$defs' in schema ? '$defs' : 'definitions'
    const definitions = member(schema, this.#holder)
    this.#definitions = isObject(definitions) ? definitions : {}
    this.#results = new Map(Object.entries(this.#definitions).flatMap(resultOfRequest))
    this.#messages = new Map(
      ['ServerNotification', 'ServerRequest'].flatMap((union) => this.#membersOf(union)),
    )
  }

  /** The name of the definition; undefined when it does not say. */
  answerDefinition(method: string, { outcome }: Response): string | undefined {
    const names =
      'result' in outcome
        ? [kindOf(outcome.result, this.#results.get(method))]
        : ['JSONRPCErrorResponse', 'JSONRPCError']
    return names.find((one) => one !== undefined && Object.hasOwn(this.#definitions, one))
  }

  messageDefinition(method: string): string | undefined {
    return this.#messages.get(method)
  }

  pointerTo(name: string): string {
    return `#/${this.#holder}/${name}`
  }

  #membersOf(union: string): readonly (readonly [string, string])[] {
    const all = member(member(this.#definitions, union), 'anyOf')
    return (Array.isArray(all) ? all : []).flatMap((one: unknown) => {
      const name = String(member(one, '$ref')).split('/').at(-1) ?? ''
      const method = methodOf(member(this.#definitions, name))
      return typeof method === 'string' ? [[method, name] as const] : []
    })
  }
}

/** `CallToolRequest` has the method in it, and is answered with a `CallToolResult`. */
function resultOfRequest([name, definition]: [string, unknown]): readonly (readonly [string, string])[] {
  const method = methodOf(definition)
  return typeof method === 'string' && name.endsWith('Request')
    ? [[method, name.replace(/Request$/, 'Result')]]
    : []
}

function methodOf(definition: unknown): unknown {
  return member(member(member(definition, 'properties'), 'method'), 'const')
}

/** A result that says of itself to be of another kind is judged as that; what an extension defines is not judged. */
function kindOf(result: unknown, own: string | undefined): string | undefined {
  const type = member(result, 'resultType')
  if (type === 'input_required') return 'InputRequiredResult'
  if (type !== undefined && type !== 'complete') return undefined
  return own === 'CallToolResult' && isObject(member(result, 'task')) ? 'CreateTaskResult' : own
}
