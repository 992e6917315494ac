import type { Direction } from '../wire/direction.ts'
import { idKey } from '../protocol/id.ts'
import type { Batch, Message } from '../protocol/message.ts'
import { HANDSHAKE_METHODS } from '../protocol/methods.ts'

export interface MethodFilterRules {
  /** Patterns such as `tools/call` or `resources/*`; only these are taped. */
  readonly only: readonly string[]
  /** These are not. */
  readonly skip: readonly string[]
}

/** Decides which messages are taped: by method, and an answer goes the way of its request. The handshake always stays. */
export class MethodFilter {
  readonly #only: readonly RegExp[]
  readonly #skip: readonly RegExp[]
  readonly #skippedRequests: Record<Direction, Set<string>> = { c2s: new Set(), s2c: new Set() }

  constructor({ only, skip }: MethodFilterRules) {
    this.#only = only.map(toRegExp)
    this.#skip = skip.map(toRegExp)
  }

  /** Within a scope, such as a connection, an id means one request. */
  keeps(dir: Direction, message: Message, scope: string): boolean {
    if (message.kind !== 'batch') return this.#keepsOne(dir, message, scope)
    return message.items
      .map((item) => item.kind === 'batch' || this.#keepsOne(dir, item, scope))
      .includes(true)
  }

  #keepsOne(dir: Direction, message: Exclude<Message, Batch>, scope: string): boolean {
    switch (message.kind) {
      case 'request': {
        const keeps = this.#keepsMethod(message.method)
        if (!keeps) this.#skippedRequests[dir].add(scope + idKey(message.id))
        return keeps
      }
      case 'notification':
        return this.#keepsMethod(message.method)
      case 'response':
        return (
          message.id === null ||
          !this.#skippedRequests[dir === 'c2s' ? 's2c' : 'c2s'].delete(scope + idKey(message.id))
        )
      case 'invalid':
        return true
    }
  }

  #keepsMethod(method: string): boolean {
    if (HANDSHAKE_METHODS.has(method) || method === 'notifications/initialized') return true
    const isNamed = this.#only.length === 0 || this.#only.some((pattern) => pattern.test(method))
    return isNamed && !this.#skip.some((pattern) => pattern.test(method))
  }
}

function toRegExp(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}
