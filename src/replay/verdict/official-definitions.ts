import { isObject, member, type Response } from '../../wire/message.ts'

/** Finds in an official schema what an answer has to be. */
export class OfficialDefinitions {
  readonly #holder: '$defs' | 'definitions'
  readonly #definitions: object
  /** The name of the result of each method. */
  readonly #results: ReadonlyMap<string, string>

  constructor(schema: object) {
    this.#holder = '$defs' in schema ? '$defs' : 'definitions'
    const definitions = member(schema, this.#holder)
    this.#definitions = isObject(definitions) ? definitions : {}
    this.#results = new Map(Object.entries(this.#definitions).flatMap(resultOfRequest))
  }

  /** The name of the definition; undefined when it does not say. */
  nameFor(method: string, { outcome }: Response): string | undefined {
    const names =
      'result' in outcome
        ? [kindOf(outcome.result, this.#results.get(method))]
        : ['JSONRPCErrorResponse', 'JSONRPCError']
    return names.find((one) => one !== undefined && Object.hasOwn(this.#definitions, one))
  }

  pointerTo(name: string): string {
    return `#/${this.#holder}/${name}`
  }
}

/** `CallToolRequest` has the method in it, and is answered with a `CallToolResult`. */
function resultOfRequest([name, definition]: [string, unknown]): readonly (readonly [string, string])[] {
  const method = member(member(member(definition, 'properties'), 'method'), 'const')
  return typeof method === 'string' && name.endsWith('Request')
    ? [[method, name.replace(/Request$/, 'Result')]]
    : []
}

/** A result that says of itself to be of another kind is judged as that; what an extension defines is not judged. */
function kindOf(result: unknown, own: string | undefined): string | undefined {
  const type = member(result, 'resultType')
  if (type === 'input_required') return 'InputRequiredResult'
  if (type !== undefined && type !== 'complete') return undefined
  return own === 'CallToolResult' && isObject(member(result, 'task')) ? 'CreateTaskResult' : own
}
