// Small calls, of which every tenth sends a handle that an earlier answer made up; run by itself, a server that answers them over stdio.
import { createHash } from 'node:crypto'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const WORDS =
  'of the list, with some words that are plain and no handles at all, so that the line is long enough'

export function requestOf(number, id = number) {
  const isUse = number % 10 === 9
  const handle = isUse ? { handle: handleOf('recorded', number - 5) } : {}
  const params = {
    name: isUse ? 'get' : 'make',
    arguments: { count: number, ...handle, query: `item ${number} ${WORDS}` },
  }
  return { method: 'tools/call', params, jsonrpc: '2.0', id }
}

/** As the server of a certain run says it: the handles that are sent back are its own. */
export function answerOf(run, number, id = number) {
  const content = [{ type: 'text', text: `item ${number} ${WORDS}` }]
  const structuredContent =
    number % 10 === 9 ? { size: number } : { handle: handleOf(number % 10 === 4 ? run : 'recorded', number) }
  return { result: { content, structuredContent }, jsonrpc: '2.0', id }
}

function handleOf(run, number) {
  const hex = createHash('sha1').update(`${run} ${number}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}

const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'small', version: '1' },
  },
  'tools/list': {
    tools: ['make', 'get'].map((name) => ({
      name,
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    })),
  },
}

function answered(text) {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined) return []
  const known = RESULTS[method]
  const answer = known ? { result: known, jsonrpc: '2.0', id } : answerOf('live', params.arguments.count, id)
  return [`${JSON.stringify(answer)}\n`]
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  let rest = ''
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    process.stdout.write(lines.flatMap(answered).join(''))
  })
}
