// The client whose session is recorded. It answers every question in the same way, over stdio and Streamable HTTP, in both eras.
import { createInterface } from 'node:readline'
import { ended, start } from '../processes.mjs'

const CLIENT_INFO = { name: 'verdicts-client', version: '1.0.0' }
const CAPABILITIES = { sampling: {}, elicitation: { form: {} }, roots: {} }

/** Plays a session over stdio: the command starts the recorder with the server behind it. */
export async function playOverStdio({ command, env, era, play, root }) {
  const child = start(command, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const over = ended(child)
  const waiting = new Map()
  const write = async (message) => child.stdin.write(`${JSON.stringify(message)}\n`)
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.method === undefined) waiting.get(message.id)?.(message)
    else if (message.id !== undefined) void write(answerTo(message, root))
    else if (message.method === 'notifications/subscriptions/acknowledged') waiting.get('acknowledged')?.()
  })
  const connection = {
    notify: write,
    request: (message) =>
      new Promise((resolve, reject) => {
        waiting.set(message.id, resolve)
        void over.then((code) => reject(new Error(`the recorder ended with ${code}`)))
        void write(message)
      }),
    acknowledged: () => new Promise((resolve) => waiting.set('acknowledged', resolve)),
  }
  await playSession(connection, era, play)
  child.stdin.end()
  await over
}

/** Plays a session over HTTP, against the address of the recorder. */
export async function playOverHttp({ url, era, play }) {
  let session
  let acknowledge
  const post = async (message) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headersOf(message, era), ...(session && { 'mcp-session-id': session }) },
      body: JSON.stringify(message),
    })
    session ??= response.headers.get('mcp-session-id') ?? undefined
    return response
  }
  const connection = {
    notify: async (message) => void (await (await post(message)).text()),
    request: async (message) => {
      const response = await post(message)
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.json()
      for await (const each of eventsOf(response.body)) {
        if (each.method === undefined) return each
        if (each.id !== undefined) await connection.notify(answerTo(each))
        else if (each.method === 'notifications/subscriptions/acknowledged') acknowledge?.()
      }
      throw new Error(`the stream of ${message.method} ended without a response`)
    },
    acknowledged: () => new Promise((resolve) => (acknowledge = resolve)),
  }
  await playSession(connection, era, play)
}

async function playSession(connection, era, play) {
  const ask = async (label, method, params, meta = {}) => {
    let message = requestOf(label, method, params, meta, era)
    let { result } = await connection.request(message)
    for (let round = 2; result?.resultType === 'input_required'; round += 1) {
      const inputResponses = Object.fromEntries(
        Object.entries(result.inputRequests).map(([key, request]) => [key, answerTo(request).result]),
      )
      const again = { ...params, inputResponses, requestState: result.requestState }
      message = requestOf(`${label}~${round}`, method, again, meta, era)
      ;({ result } = await connection.request(message))
    }
    return result ?? {}
  }
  if (era === 'legacy') {
    await ask('initialize', 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: CAPABILITIES,
      clientInfo: CLIENT_INFO,
    })
    await connection.notify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  } else await ask('discover', 'server/discover', {})
  await play({
    era,
    ask,
    call: (name, args = {}, label = name, meta = {}, more = {}) =>
      ask(label, 'tools/call', { name, arguments: args, ...(era === 'legacy' && more) }, meta),
    /** Resolves when the subscription is acknowledged, with a promise of its end in an object. */
    listen: async (label, notifications) => {
      const acknowledged = connection.acknowledged()
      const over = ask(label, 'subscriptions/listen', { notifications })
      await acknowledged
      return { over }
    },
  })
}

function requestOf(id, method, params, meta, era) {
  const envelope =
    era === 'modern'
      ? {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {
            ...CAPABILITIES,
            extensions: { 'io.modelcontextprotocol/tasks': {} },
          },
          'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
        }
      : {}
  const { 'io.modelcontextprotocol/logLevel': logLevel, ...rest } = meta
  const level = era === 'modern' && logLevel ? { 'io.modelcontextprotocol/logLevel': logLevel } : {}
  const all = { ...envelope, ...level, ...rest }
  const hasMeta = Object.keys(all).length > 0
  return { jsonrpc: '2.0', id, method, params: { ...params, ...(hasMeta && { _meta: all }) } }
}

/** `root` is the folder that a server may use. Some servers replace their own by it. */
function answerTo({ id, method }, root) {
  const ownRoots = { roots: [{ uri: `file://${root}`, name: 'files' }] }
  const result = method === 'roots/list' && root !== undefined ? ownRoots : ANSWERS[method]
  return { jsonrpc: '2.0', id, result: result ?? {} }
}

const ANSWERS = {
  'sampling/createMessage': {
    role: 'assistant',
    content: { type: 'text', text: 'Two lines, no more.' },
    model: 'fixed',
    stopReason: 'endTurn',
  },
  'elicitation/create': { action: 'accept', content: { sure: true } },
  'roots/list': { roots: [{ uri: 'file:///work', name: 'work' }] },
}

function headersOf({ method, params }, era) {
  const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  if (era === 'legacy') return { ...common, 'mcp-protocol-version': '2025-11-25' }
  const name = params?.name ?? params?.uri ?? params?.taskId
  return {
    ...common,
    'mcp-protocol-version': '2026-07-28',
    ...(method && { 'mcp-method': method }),
    ...(name && { 'mcp-name': name }),
  }
}

async function* eventsOf(body) {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const events = text.split('\n\n')
    text = events.pop()
    for (const event of events) {
      const data = event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
        .join('\n')
      if (data !== '') yield JSON.parse(data)
    }
  }
}
