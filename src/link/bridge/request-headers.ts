import { member, type Message, type Request } from '../../protocol/message.ts'
import { headersForMessage, type NegotiatedState } from '../../bridge/message-headers.ts'
import { ToolParamHeaders } from '../../bridge/param-headers.ts'

/** What a session over HTTP has agreed on so far: learnt from the answers that pass by, and told in the headers of what follows. */
export class NegotiatedSession {
  readonly #params = new ToolParamHeaders()
  #state: NegotiatedState = { session: undefined, version: undefined }

  get state(): NegotiatedState {
    return this.#state
  }

  headersFor(message: Message): readonly string[] {
    return headersForMessage(message, this.#state, this.#params)
  }

  begin(session: string): void {
    this.#state = { ...this.#state, session }
  }

  end(): void {
    this.#state = { ...this.#state, session: undefined }
  }

  learn({ method }: Request, result: unknown): void {
    const version = member(result, 'protocolVersion')
    if (method === 'initialize' && typeof version === 'string') this.#state = { ...this.#state, version }
    if (method === 'tools/list') this.#params.learn(result)
  }
}
