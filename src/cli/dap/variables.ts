import { isObject, member, parseJson } from '../../json/parse.ts'
import { formatPath, type PathPattern } from '../../json/path.ts'
import type { MessageView } from '../../replay/control/commands.ts'
import { findingText } from '../../report/replay.ts'

/** A variable as an editor shows it. */
export interface DapVariable {
  readonly name: string
  readonly value: string
  readonly type: string
  readonly variablesReference: number
  readonly namedVariables?: number
  readonly indexedVariables?: number
  /** The path that `evaluate` takes. */
  readonly evaluateName?: string
}

/** The values behind a reference. */
export interface VariableHolder {
  /** The index of the message. */
  readonly index: number
  /** The path of the values from the message, if they can be changed or evaluated: `params.arguments`. */
  readonly path: PathPattern | undefined
  readonly value: object
}

/** The variables of a stop, by reference. References are valid until the run goes on. */
export class VariableStore {
  readonly #holders: VariableHolder[] = []

  clear(): void {
    this.#holders.length = 0
  }

  holder(reference: number): VariableHolder | undefined {
    return this.#holders[reference - 1]
  }

  /** The scopes of a message: its request, bindings, response, differences, and what was recorded. */
  scopesOf(view: MessageView): readonly object[] {
    const { index, isNext } = view
    const request = parseJson(view.request ?? view.recorded)
    const response = view.response === undefined ? undefined : parseJson(view.response)
    const recorded = view.recordedResponse === undefined ? undefined : parseJson(view.recordedResponse)
    const params = member(request, 'params')
    const scopes: readonly (readonly [string, VariableHolder | undefined])[] = [
      [
        isNext ? 'Request (not sent yet)' : 'Request',
        {
          index,
          path: [],
          value: { method: member(request, 'method'), ...(params !== undefined && { params }) },
        },
      ],
      [
        'Bindings',
        view.bindings.length === 0 ? undefined : { index, path: undefined, value: bindingsIn(view) },
      ],
      [
        'Response',
        isNext
          ? undefined
          : {
              index,
              path: [],
              value: isObject(response) ? outcomeIn(response) : { state: view.state, why: view.why },
            },
      ],
      ['Difference', isNext ? undefined : { index, path: undefined, value: differencesIn(view) }],
      [
        'Recorded',
        { index, path: undefined, value: { request: parseJson(view.recorded), response: recorded } },
      ],
    ]
    return scopes.flatMap(([name, holder]) =>
      holder === undefined
        ? []
        : [
            {
              name,
              variablesReference: this.#add(holder),
              expensive: false,
              ...(name.startsWith('Request') && { presentationHint: 'arguments' }),
            },
          ],
    )
  }

  variablesOf({ index, path, value }: VariableHolder): readonly DapVariable[] {
    const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
      ? value.map((item: unknown, at) => [at, item] as const)
      : Object.entries(value)
    return entries
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => this.variable(String(name), item, { index, path: path && [...path, name] }))
  }

  variable(
    name: string,
    value: unknown,
    { index, path }: Pick<VariableHolder, 'index' | 'path'>,
  ): DapVariable {
    const evaluateName = path === undefined || path.length === 0 ? {} : { evaluateName: formatPath(path) }
    const common = { name, value: shortJson(value), type: typeOf(value), ...evaluateName }
    if (typeof value !== 'object' || value === null) return { ...common, variablesReference: 0 }
    const count = Array.isArray(value)
      ? { indexedVariables: value.length }
      : { namedVariables: Object.keys(value).length }
    return { ...common, variablesReference: this.#add({ index, path, value }), ...count }
  }

  #add(holder: VariableHolder): number {
    return this.#holders.push(holder)
  }
}

function outcomeIn(response: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(response).filter(([name]) => name !== 'jsonrpc' && name !== 'id'))
}

function bindingsIn({ bindings }: MessageView): object {
  return Object.fromEntries(
    bindings.map(({ path, recorded, live, from }) => [path, { live: live ?? null, recorded, from }]),
  )
}

function differencesIn({ findings, response, recordedResponse }: MessageView): object {
  if (findings.length === 0)
    return {
      none: response !== undefined && recordedResponse !== undefined ? 'as recorded' : 'nothing was compared',
    }
  return Object.fromEntries(
    findings.map((finding, at) => [
      finding.path ?? String(at + 1),
      { message: findingText(finding), recorded: finding.expected, live: finding.actual },
    ]),
  )
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

const MAX_VALUE = 1000

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
