import type { ExportedStep } from './requests.ts'

/** The steps as data for a script. */
export function stepData(step: ExportedStep): string {
  const { title, message, isRequest, expected, produces, uses, answers, headers } = step
  const members = [
    `title: ${js(title)}`,
    `send: ${js(message.trim())}`,
    ...(isRequest ? [] : ['notification: true']),
    ...(expected === undefined
      ? []
      : [`expect: { name: ${js(expected.name)}, value: JSON.parse(${js(expected.json)}) }`]),
    ...(headers.length === 0 ? [] : [`headers: ${JSON.stringify(Object.fromEntries(headers))}`]),
    ...(produces.length === 0 ? [] : [`produces: ${JSON.stringify(produces)}`]),
    ...(uses.length === 0 ? [] : [`uses: ${JSON.stringify(uses)}`]),
    ...(answers.length === 0 ? [] : [`answers: ${JSON.stringify(answers)}`]),
  ]
  return `{\n      ${members.join(',\n      ')},\n    }`
}

/** A string as JavaScript. */
export function js(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/**
 * What every script needs to carry values: reading them from responses, and writing them into messages and expected values. It is
 * plain JavaScript without modules, because k6 and the sandbox of Postman run it too.
 */
export const VALUES_RUNTIME = `
function at(root, path) {
  return path.reduce((value, key) => (value === null || value === undefined ? undefined : value[key]), root)
}

/** Reads a value of a response: by its path, in JSON within a text, or by the words around it. */
function readValue(response, { path, inside }) {
  let value = at(response, path)
  for (const step of inside) {
    if (value === undefined) return undefined
    if (step.kind === 'json') {
      const text = String(value)
      const start = text.search(/[[{]/)
      try {
        value = at(JSON.parse(text.slice(start, Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1)), step.path)
      } catch {
        return undefined
      }
    } else value = readToken(String(value), step.token)
  }
  return value === undefined || value === null ? undefined : String(value)
}

function readToken(text, { before, after, rank, joints }) {
  const escaped = (part) => part.replace(/[.*+?^$|(){}[\\]\\\\-]/g, '\\\\$&')
  const begin = before.startsWith('\\n') ? '(?:^|\\n)' + escaped(before.slice(1)) : escaped(before)
  const found = [...text.matchAll(new RegExp(begin + '([\\\\p{L}\\\\p{N}' + escaped(joints) + ']+)', 'gu'))]
  const match = found[rank] || found[0]
  return match === undefined ? undefined : match[1]
}

/** Puts carried values into a message. A number stays a number. */
function withValues(message, uses, values) {
  for (const { name, recorded, path } of uses) {
    const live = values[name]
    const holder = live === undefined ? undefined : at(message, path.slice(0, -1))
    if (holder === undefined || holder === null) continue
    const key = path[path.length - 1]
    if (typeof holder[key] === 'number') holder[key] = isNaN(Number(live)) ? live : Number(live)
    else if (typeof holder[key] === 'string') holder[key] = holder[key].split(recorded).join(live)
  }
  return message
}

/** An expected value with the values that this run carries in place of the recorded ones. */
function expectedNow(value, carried) {
  if (typeof value === 'string')
    return carried.reduce((text, { recorded, live }) => (recorded.length < 6 ? text : text.split(recorded).join(live)), value)
  if (Array.isArray(value)) return value.map((item) => expectedNow(item, carried))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expectedNow(item, carried)]))
}

/** JSON with sorted keys, to compare values. */
function canonical(value) {
  if (Array.isArray(value)) return '[' + value.map(canonical).join(',') + ']'
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  return '{' + Object.keys(value).sort().map((key) => JSON.stringify(key) + ':' + canonical(value[key])).join(',') + '}'
}

/** The messages in the body of a response: JSON, or a stream of events. */
function messagesIn(body) {
  const text = String(body || '').trim()
  if (text === '') return []
  if (text.startsWith('{') || text.startsWith('[')) return [].concat(JSON.parse(text))
  return text
    .split(/\\r?\\n\\r?\\n/)
    .map((event) => event.split(/\\r?\\n/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim()).join('\\n'))
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data))
}
`

/** A client over HTTP for Node, Bun and Deno. It answers requests of the server as the recorded client did. */
export const FETCH_RUNTIME = `
class Session {
  headers = {}
  values = {}
  carried = []

  /** Sends a message. Returns the response to a request. */
  async send(step) {
    const message = withValues(JSON.parse(step.send), step.uses || [], this.values)
    const response = await this.post(message, step.headers)
    const session = response.headers.get('mcp-session-id')
    if (session !== null) this.headers['Mcp-Session-Id'] = session
    if (step.notification) {
      await response.body?.cancel()
      return undefined
    }
    const answer = await this.answerIn(response, message.id, [...(step.answers || [])])
    if (message.method === 'initialize' && answer.result)
      this.headers['MCP-Protocol-Version'] = answer.result.protocolVersion
    for (const value of step.produces || []) {
      const live = readValue(answer, value)
      if (live === undefined) continue
      this.values[value.name] = live
      this.carried.push({ recorded: value.recorded, live })
    }
    return answer
  }

  post(message, headers = {}) {
    return fetch(URL_OF_SERVER, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...this.headers, ...headers },
      body: JSON.stringify(message),
    })
  }

  /** Reads until the response, and answers what the server asks before. */
  async answerIn(response, id, answers) {
    let text = ''
    const decoder = new TextDecoder()
    let read = 0
    for await (const chunk of response.body || []) {
      text += decoder.decode(chunk, { stream: true })
      const isStream = (response.headers.get('content-type') || '').startsWith('text/event-stream')
      const end = isStream ? Math.max(text.lastIndexOf('\\n\\n'), text.lastIndexOf('\\r\\n\\r\\n')) : -1
      if (end < 0) continue
      const messages = messagesIn(text.slice(0, end + 2))
      for (const message of messages.slice(read)) {
        if (message.method !== undefined && message.id !== undefined) await this.reply(message, answers)
        if (message.method === undefined && message.id === id) return message
      }
      read = messages.length
    }
    const found = messagesIn(text).find((message) => message.id === id)
    if (found === undefined) throw new Error('no response: HTTP status ' + response.status + ' ' + text.slice(0, 200))
    return found
  }

  async reply({ id, method }, answers) {
    const index = answers.findIndex((answer) => answer.method === method)
    const [answer] = index < 0 ? [] : answers.splice(index, 1)
    const outcome = answer === undefined ? { error: { code: -32601, message: 'not recorded' } } : JSON.parse('{' + answer.json + '}')
    const response = await this.post({ jsonrpc: '2.0', id, ...outcome })
    await response.body?.cancel()
  }

  /** What the response should be, with the values of this run. */
  expected(step) {
    return expectedNow(step.expect.value, this.carried)
  }
}
`
