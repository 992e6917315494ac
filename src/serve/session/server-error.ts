import { isObject, member, type JsonObject } from '../../protocol/message.ts'

/** An error that the recorded server answered with, thrown where a client of the SDK would throw it. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** The JSON-RPC code. */
  readonly code: number
  readonly data: unknown
  /** The whole error object, as recorded. */
  readonly error: JsonObject

  constructor(error: unknown) {
    const message = member(error, 'message')
    super(typeof message === 'string' ? message : 'the recorded server answered with an error')
    this.code = Number(member(error, 'code'))
    this.data = member(error, 'data')
    this.error = isObject(error) ? error : {}
  }
}
