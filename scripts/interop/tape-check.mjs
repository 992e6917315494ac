// What must be on the tapes of a recorded run: the handshake of the era, and each answer that the client was given.
import { isDeepStrictEqual } from 'node:util'

const HANDSHAKE = { legacy: 'initialize', modern: 'server/discover' }

/** What is missing or wrong, in words. */
export function troublesOn(tapes, { tasks, answers, era }) {
  const exchanges = tapes.flatMap((tape) => tape.exchanges)
  const greeted = exchanges.some(({ method, outcome }) => method === HANDSHAKE[era] && outcome.kind === 'ok')
  return [
    ...tapes.flatMap((tape) => tape.troubles),
    ...(greeted ? [] : [`no ${HANDSHAKE[era]} that was answered is on the tape`]),
    ...tasks.flatMap((task, at) =>
      exchanges.some((exchange) => holds(exchange, task, answers[at]))
        ? []
        : [`the answer to ${task.tool ?? 'tools/list'} is not on the tape`],
    ),
  ]
}

/** Of a result with structured content, mcporter shows only that. */
function holds({ method, request, response }, { tool, args }, answer) {
  const { result } = response ?? {}
  if (tool === undefined)
    return (
      method === 'tools/list' && isDeepStrictEqual(result?.tools.map(({ name }) => name).toSorted(), answer)
    )
  const { name, arguments: sent } = request?.params ?? {}
  return (
    method === 'tools/call' &&
    name === tool &&
    isDeepStrictEqual(sent ?? {}, args) &&
    (isDeepStrictEqual(shown(result), shown(answer)) || isDeepStrictEqual(result?.structuredContent, answer))
  )
}

/** Without what Inspector takes off a result before it shows it. */
function shown({ content, structuredContent, isError = false } = {}) {
  return { content, structuredContent, isError }
}
