import { member, type Message, type Request } from '../wire/message.ts'
import { messageHeaders, type Agreed } from './message-headers.ts'
import { ParamHeaders } from './param-headers.ts'

/** What a session over HTTP has agreed on so far: learnt from the answers that pass by, and told in the headers of what follows. */
export class Agreement {
  readonly #params = new ParamHeaders()
  #agreed: Agreed = { session: undefined, version: undefined }

  get agreed(): Agreed {
    return this.#agreed
  }

  headersFor(message: Message): readonly string[] {
    return messageHeaders(message, this.#agreed, this.#params)
  }

  begin(session: string): void {
    this.#agreed = { ...this.#agreed, session }
  }

  end(): void {
    this.#agreed = { ...this.#agreed, session: undefined }
  }

  learn({ method }: Request, result: unknown): void {
    const version = member(result, 'protocolVersion')
    if (method === 'initialize' && typeof version === 'string') this.#agreed = { ...this.#agreed, version }
    if (method === 'tools/list') this.#params.learn(result)
  }
}
