import type { ControlCommand, ControlSubject } from '../../control/control-sessions.ts'
import { ReelayError } from '../../errors.ts'
import type { JsonObject } from '../../json/parse.ts'
import { parseRpcError, type ResponsePayload } from '../../protocol/message.ts'
import { parseDuration } from '../../text.ts'
import type { HeldMessage, Interceptor } from './interceptor.ts'

/**
 * Offers the held messages of a recording to control clients. They see and send real messages, with their secrets: the socket
 * belongs to the same user, and nothing of it is written to disk unredacted.
 */
export function interceptSubject(interceptor: Interceptor, tape: () => string | undefined): ControlSubject {
  const decide =
    (work: (held: HeldMessage, args: JsonObject, by: string) => void): ControlCommand =>
    (args, { name }) =>
      work(interceptor.get(textArgument(args, 'key')), args, name)
  const forward = decide((held, _, by) => held.forward({ by }))
  const edit = decide((held, args, by) => held.edit(textArgument(args, 'text'), { by }))
  const drop = decide((held, _, by) => held.drop({ by }))
  return {
    hello: () => ({
      subject: 'record',
      tape: tape() ?? null,
      filter: interceptor.filter.text,
      holdLimitMs: interceptor.holdLimitMs,
    }),
    attach: ({ send, isWatching }) => {
      for (const { facts } of interceptor.list()) send({ event: 'held', message: facts })
      return interceptor.attach(send, { decides: !isWatching })
    },
    commands: {
      list: () => ({ held: interceptor.list().map(({ facts }) => facts) }),
      get: (args) => ({ message: interceptor.get(textArgument(args, 'key')).facts }),
      stats: () => ({ stats: interceptor.stats }),
      forward,
      resume: forward,
      edit,
      modify: edit,
      drop,
      block: drop,
      answer: decide((held, args, by) => held.answer(answerPayload(args), { by })),
      extend: decide((held, args) => held.extend(durationArgument(args, 'by'))),
      filter: (args) => interceptor.setFilter(textArgument(args, 'filter')),
      repeat: (args) => ({
        id: interceptor.repeat(numberArgument(args, 'exchange'), optionalText(args, 'text')),
      }),
    },
  }
}

function textArgument(args: JsonObject, name: string): string {
  const value = args[name]
  if (typeof value === 'string') return value
  throw argumentError(name, 'a text')
}

function optionalText(args: JsonObject, name: string): string | undefined {
  return args[name] === undefined ? undefined : textArgument(args, name)
}

function numberArgument(args: JsonObject, name: string): number {
  const value = args[name]
  if (Number.isSafeInteger(value)) return Number(value)
  throw argumentError(name, 'a number')
}

function durationArgument(args: JsonObject, name: string): number {
  const ms = parseDuration(args[name])
  if (ms !== undefined) return ms
  throw argumentError(name, 'a duration, such as "30s"')
}

function answerPayload(args: JsonObject): ResponsePayload {
  if (Object.hasOwn(args, 'result') && !Object.hasOwn(args, 'error')) return { result: args['result'] }
  const error = parseRpcError(args['error'])
  if (error !== undefined && !Object.hasOwn(args, 'result')) return { error }
  throw argumentError('result or error', 'given, and an error needs a "code" and a "message"')
}

function argumentError(name: string, expected: string): ReelayError {
  return new ReelayError('USAGE', `"${name}" must be ${expected}`, {
    hint: 'docs/reference/control.md describes the commands',
  })
}
