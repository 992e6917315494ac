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
  readonly clock: { after(ms: number, action: () => void): void }
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
}

export interface InjectedHttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A kind of fault without parameters: `timeout: true`. */
export function flagFault(name: string, fault: Omit<Fault, 'kind'>): FaultKind {
  return { name, expects: 'true', parse: (value) => (value === true ? fault : undefined) }
}
