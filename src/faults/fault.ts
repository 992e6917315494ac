import { replaceValue } from '../json/find-replace.ts'
import { isObject, type JsonObject, member, parseJson } from '../json/parse.ts'
import type { Request } from '../protocol/message.ts'
import type { WirePlan } from './wire.ts'

/** A deliberate failure of one request. */
export interface Fault {
  /** The name of its kind, as in a rule file: `timeout`. */
  readonly kind: string
  /** The effect on the request, to complete a sentence: `is never answered`. */
  readonly description: string
  /** True if the client does not get the real response. It is then kept for a retry. */
  readonly hidesResponse: boolean
  /** An action that the connection must support; without it the fault is refused. */
  readonly needs?: keyof FaultActions
  apply<Source>(context: FaultContext<Source>): void
}

/** One kind of fault. Each kind is a file in `kinds/` and an entry in `kinds/registry.ts`. */
export interface FaultKind {
  /** The key in a rule file. */
  readonly name: string
  /** The accepted values, for error messages. */
  readonly expects: string
  /** What happens, for `reelay faults`. */
  readonly help: string
  /** A value for the example in `reelay faults`. */
  readonly example: unknown
  /** Set if only requests with some methods are affected. */
  readonly affects?: RegExp
  /** The values that have a name, if there are several kinds of damage. */
  readonly variants?: readonly string[]
  /** Returns `undefined` if the value is invalid. */
  readonly parse: (value: unknown) => Omit<Fault, 'kind'> | undefined
}

/**
 * The request that a fault is applied to, and what the fault can do. `Source` describes where a response comes from; faults
 * only pass it along.
 */
export interface FaultContext<Source> {
  /** The id of the request, as JSON. */
  readonly id: string
  readonly request: Pick<Request, 'method' | 'params'>
  readonly clock: { after(ms: number, action: () => void): void }
  /** Numbers from 0 to 1, the same for the same seed. */
  readonly random: () => number
  /** Handles the request as if there were no fault, but passes the response to `reply` instead of sending it. */
  readonly play: (reply: ReplyFunction<Source>) => void
  /** Sends the response. */
  readonly reply: ReplyFunction<Source>
  readonly isCancelled: () => boolean
  /** Calls `action` when the client cancels the request. */
  readonly onCancel: (action: () => void) => void
  readonly connection: FaultActions
}

/** Takes the response to a request, or `undefined` if there will be none. */
type ReplyFunction<Source> = (text: string | undefined, source?: Source) => void

/** The actions of a connection besides sending a response. A connection supports some of them. */
export interface FaultActions {
  /** Sends a further message to the client. */
  readonly send?: (text: string) => void
  /** Ends the stream that would carry the response. Connections without such streams only omit the response. */
  readonly drop?: () => void
  /** Closes the connection. */
  readonly disconnect?: () => void
  /** Ends the HTTP exchange with this response instead of a message. */
  readonly http?: (response: InjectedHttpResponse) => void
  /** The response that follows is written in this way. */
  readonly wire?: (plan: WirePlan) => void
}

export interface InjectedHttpResponse {
  readonly status: number
  /** A header with a list is sent once for each value. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string
}

/** A kind of fault without parameters: `timeout: true`. */
export function flagFault(
  name: string,
  help: string,
  fault: Omit<Fault, 'kind'>,
  affects?: RegExp,
): FaultKind {
  return {
    name,
    help,
    expects: 'true',
    example: true,
    ...(affects && { affects }),
    parse: (value) => (value === true ? fault : undefined),
  }
}

/** One of the variants of a kind, such as `malformed: truncated`. */
export interface FaultVariant {
  /** The effect on the request, to complete a sentence. */
  readonly description: string
  /** Changes the response. Returns the texts to send: the response, and messages after it. */
  readonly change: (text: string, request: FaultContext<unknown>['request']) => string | readonly string[]
  /** Messages to send before the response. */
  readonly before?: (request: FaultContext<unknown>['request']) => readonly string[]
  /** True if a client can still use the response. */
  readonly keepsResponse?: true
}

/** A kind of fault that changes the response, in one of several ways: `malformed: truncated`. */
export function variantFault(
  name: string,
  help: string,
  variants: Readonly<Record<string, FaultVariant>>,
  affects?: RegExp,
): FaultKind {
  const names = Object.keys(variants)
  return {
    name,
    help,
    expects: names.join(', '),
    example: names[0],
    variants: names,
    ...(affects && { affects }),
    parse: (value) => {
      const variant = typeof value === 'string' && names.includes(value) ? variants[value] : undefined
      return variant && changedResponse(variant)
    },
  }
}

function changedResponse({ description, change, before, keepsResponse }: FaultVariant): Omit<Fault, 'kind'> {
  return {
    description,
    hidesResponse: keepsResponse !== true,
    ...(before !== undefined && { needs: 'send' as const }),
    apply: ({ request, play, reply, connection }) => {
      for (const text of before?.(request) ?? []) connection.send?.(text)
      play((text, source) => {
        if (text === undefined) return reply(undefined, source)
        const changed = change(text, request)
        const [first, ...others] = typeof changed === 'string' ? [changed] : changed
        reply(first, source)
        for (const other of others) connection.send?.(other)
      })
    },
  }
}

/** Changes the result in the text of a response. An error stays as it is. */
export function editResult(text: string, edit: (result: JsonObject) => unknown): string {
  const result = member(parseJson(text), 'result')
  return isObject(result) ? replaceValue(text, ['result'], JSON.stringify(edit(result))) : text
}
