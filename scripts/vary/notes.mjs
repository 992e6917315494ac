// A server of notes over HTTP in which one session may see another: node notes.mjs <name of a leak, or none>. It prints its URL.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

export const LEAKS = [
  'last-note',
  'cached-search',
  'note-of-anybody',
  'error-of-before',
  'current-session',
  'broadcast',
]

const text = { type: 'string' }
const tool = (name, properties) => ({
  name,
  description: name.replace('_', ' '),
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  annotations: { readOnlyHint: name !== 'save_note' },
})
const TOOLS = [
  tool('save_note', { text }),
  tool('get_note', { id: text }),
  tool('list_notes', {}),
  tool('search', { word: text }),
  tool('last_note', {}),
]

function serve(leak) {
  const sessions = new Map()
  const notes = new Map()
  const cache = new Map()
  const streams = new Set()
  let last
  let failed = ''
  let current

  async function call(name, given, session) {
    current = session
    if (leak === 'current-session') await new Promise((resolve) => void setTimeout(resolve, 10))
    const owner = leak === 'current-session' ? current : session
    const own = () => [...notes.values()].filter((note) => note.owner === owner)
    switch (name) {
      case 'save_note': {
        const note = { id: randomUUID(), text: given.text, owner }
        notes.set(note.id, note)
        last = note
        return { id: note.id }
      }
      case 'get_note': {
        const note = notes.get(given.id)
        if (note !== undefined && (note.owner === owner || leak === 'note-of-anybody'))
          return { text: note.text }
        const before = failed
        failed = given.id
        const why = leak === 'error-of-before' && before !== '' ? ` (like ${before})` : ''
        return { error: `there is no such note${why}` }
      }
      case 'list_notes':
        return { notes: own().map(({ id }) => id) }
      case 'search': {
        const known = cache.get(given.word)
        if (leak === 'cached-search' && known !== undefined) return known
        const found = {
          texts: own()
            .map((note) => note.text)
            .filter((each) => each.includes('a')),
        }
        cache.set(given.word, found)
        return found
      }
      case 'last_note':
        return { text: (leak === 'last-note' ? last : own().at(-1))?.text ?? 'none' }
      default:
        return { error: `there is no tool ${name}` }
    }
  }

  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const session = request.headers['mcp-session-id']
    if (request.method === 'DELETE') return response.writeHead(200).end()
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const answer = (result, headers = {}) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    if (method === 'initialize') {
      const opened = randomUUID()
      sessions.set(opened, true)
      const { protocolVersion } = params
      const result = {
        protocolVersion,
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'notes', version: '1.0.0' },
      }
      return answer(result, { 'mcp-session-id': opened })
    }
    if (!sessions.has(session)) return response.writeHead(404).end()
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'tools/list') return answer({ tools: TOOLS })
    if (method !== 'tools/call') return answer({})
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (message) =>
      void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
    streams.add(send)
    if (params.name === 'save_note') {
      const notice = {
        method: 'notifications/message',
        params: { level: 'info', data: `saved: ${params.arguments.text}` },
      }
      for (const each of leak === 'broadcast' ? streams : [send]) each(notice)
      await new Promise((resolve) => void setTimeout(resolve, 30))
    }
    const { error, ...content } = await call(params.name, params.arguments ?? {}, session)
    const result =
      error === undefined
        ? { content: [{ type: 'text', text: JSON.stringify(content) }] }
        : { isError: true, content: [{ type: 'text', text: error }] }
    send({ id, result })
    streams.delete(send)
    response.end()
  })
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`))
}

if (process.argv[1]?.endsWith('notes.mjs')) serve(process.argv[2] ?? 'none')
