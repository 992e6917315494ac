// The MCP server of the harness, written by hand: both eras, no SDK. Its settings say which scene it plays and what is changed in it.
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { changed } from './change.mjs'
import { sceneOf } from './scenes/index.mjs'

const SERVER_INFO = { name: 'verdicts', version: '1.0.0' }

/**
 * One connection of a client. `settings`: scene, change (an id), noise, shift (milliseconds that the clock is moved by),
 * sometimes ('odd' or 'even': the runs that have the change) and folder (where runs and calls are counted).
 */
export function createConnection(settings) {
  const scene = sceneOf(settings.scene)
  const session = {}
  // In the process of the harness, each connection stands for a process.
  const pid = settings.isInProcess ? randomInt(1000, 60_000) : process.pid
  const began = settings.isInProcess ? Date.now() : performance.timeOrigin
  const waiting = new Map()
  let listener
  let asked = 0
  let document

  /** Takes one message of the client; `send` leads to the stream on which the response to it belongs. */
  async function receive(message, send) {
    if (message.method === undefined) return waiting.get(message.id)?.(message.result ?? {})
    if (message.id === undefined) return
    const era = isModern(message) ? 'modern' : 'legacy'
    // A stateless server does not know which run a message belongs to, so every other equal request has the change.
    const isPerCall = settings.sometimes !== undefined && settings.isStateless && era === 'modern'
    if (isPerCall) document = documentOf(scene, settings, `calls-${nameOf(message)}`)
    else document ??= documentOf(scene, settings, 'runs')
    const outcome = await outcomeOf(message, contextOf(message, era, send))
    if (outcome === undefined) return
    await send({ jsonrpc: '2.0', id: message.id, ...envelope(outcome, era) })
  }

  async function outcomeOf({ method, params = {} }, context) {
    try {
      const answer = scene.methods?.[method] ?? BASICS[method]
      if (answer !== undefined) return await answer(document, context)
      if (method === 'tools/list') return toolsOf(scene, context)
      const tool = method === 'tools/call' ? scene.tools?.[params.name] : undefined
      if (tool !== undefined) return await tool(document, context)
      return { rpcError: { code: -32601, message: `Method not found: ${method}` } }
    } catch (failure) {
      if (failure instanceof InputRequired) return failure.result
      throw failure
    }
  }

  function contextOf(message, era, send) {
    const params = message.params ?? {}
    const notify = (method, content) => send({ jsonrpc: '2.0', method, params: content })
    return {
      ...noiseOf(settings),
      era,
      session,
      params,
      args: params.arguments ?? {},
      now: () => new Date(Date.now() + (settings.shift ?? 0)),
      count: () => count(settings, 'calls'),
      pid,
      uptime: () => (Date.now() - began) / 1000,
      notify,
      progress: (content) =>
        notify('notifications/progress', { progressToken: params._meta?.progressToken, ...content }),
      cached: () => (era === 'modern' ? { ttlMs: 1000, cacheScope: 'private' } : {}),
      question: (key, method, content) =>
        era === 'legacy' ? ask(method, content, send) : answerTo(key, method, content, params),
      taskOf: (content) => taskOf(content, era),
      hold: async (granted) => {
        listener = { send, id: message.id }
        await publishTo(listener, 'notifications/subscriptions/acknowledged', { notifications: granted })
      },
      publish: (method, content) =>
        era === 'legacy' ? notify(method, content) : publishTo(listener, method, content),
      finish: async () => {
        if (listener === undefined) return
        const { send: end, id } = listener
        listener = undefined
        await end({ jsonrpc: '2.0', id, ...envelope({ _meta: subscriptionOf(id) }, 'modern') })
      },
    }
  }

  async function ask(method, params, send) {
    asked += 1
    const id = `server-${asked}`
    const answered = new Promise((resolve) => waiting.set(id, resolve))
    await send({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) })
    return answered
  }

  /** In the modern era a question ends the request; the answers of all rounds come back through the state. */
  function answerTo(key, method, content, { inputResponses, requestState }) {
    session.rounds ??= new Map()
    const known = { ...session.rounds.get(requestState), ...inputResponses }
    if (key in known) return known[key]
    const state = noiseOf(settings).id('state', Object.keys(known).length + 1)
    session.rounds.set(state, known)
    throw new InputRequired({
      resultType: 'input_required',
      inputRequests: { [key]: { method, ...(content !== undefined && { params: content }) } },
      requestState: state,
    })
  }

  function taskOf({ ttl, pollInterval, ...content }, era) {
    const { id, fill } = noiseOf(settings)
    session.task ??= id('task', 1)
    session.created ??= fill('{{time}}')
    const times = { createdAt: session.created, lastUpdatedAt: fill('{{time}}') }
    const limits = era === 'legacy' ? { ttl, pollInterval } : { ttlMs: ttl, pollIntervalMs: pollInterval }
    return { taskId: session.task, ...content, ...times, ...limits }
  }

  return { receive }
}

/** Equal for the same request of two runs: without the values that a run makes. */
function nameOf({ method, params }) {
  const kept = { ...params, _meta: undefined, requestState: undefined }
  return createHash('sha1')
    .update(JSON.stringify([method, kept]))
    .digest('hex')
}

export function isModern({ params }) {
  return params?._meta?.['io.modelcontextprotocol/protocolVersion'] === '2026-07-28'
}

class InputRequired extends Error {
  constructor(result) {
    super('more input is required')
    this.result = result
  }
}

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

const BASICS = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { ...CAPABILITIES, tasks: { list: {}, requests: { tools: { call: {} } } } },
    serverInfo: SERVER_INFO,
  }),
  'server/discover': (_, { cached }) => ({
    supportedVersions: ['2026-07-28'],
    capabilities: { ...CAPABILITIES, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    ...cached(),
  }),
  ping: () => ({}),
  'logging/setLevel': () => ({}),
}

function toolsOf(scene, { cached }) {
  const tools = Object.keys(scene.tools ?? {}).map((name) => ({
    name,
    inputSchema: { type: 'object' },
    ...(scene.outputSchemas?.[name] && { outputSchema: scene.outputSchemas[name] }),
    annotations: { readOnlyHint: true },
    ...(name === 'tasks' && { execution: { taskSupport: 'optional' } }),
  }))
  return { tools, ...cached() }
}

function envelope({ rpcError, ...result }, era) {
  if (rpcError !== undefined) return { error: rpcError }
  if (era === 'legacy') return { result }
  const meta = { ...result._meta, 'io.modelcontextprotocol/serverInfo': SERVER_INFO }
  return { result: { resultType: 'complete', ...result, _meta: meta } }
}

async function publishTo(listener, method, params) {
  await listener?.send({ jsonrpc: '2.0', method, params: { ...params, _meta: subscriptionOf(listener.id) } })
}

function subscriptionOf(id) {
  return { 'io.modelcontextprotocol/subscriptionId': id }
}

function documentOf(scene, settings, counter) {
  if (settings.change === undefined) return scene.document
  if (settings.sometimes !== undefined) {
    const parity = count(settings, counter.replaceAll(/[^\w-]/g, '-')) % 2 === 1 ? 'odd' : 'even'
    if (parity !== settings.sometimes) return scene.document
  }
  return changed(
    scene.document,
    scene.changes.find(({ id }) => id === settings.change),
  )
}

/** Counts across processes: the length of a file that grows by one byte. */
function count({ folder }, name) {
  const file = join(folder, name)
  appendFileSync(file, '.')
  return statSync(file).size
}

/** What stands beside a change: volatile values if there is noise, else the same ones in every run. */
function noiseOf({ noise, shift = 0 }) {
  const time = () => (noise ? new Date(Date.now() + shift).toISOString() : '2024-05-01T08:00:00.000Z')
  const uuid = () => (noise ? randomUUID() : '3f2b6c1e-5a4d-4c3b-9e8f-7a6b5c4d3e2f')
  const hex = () => (noise ? randomBytes(6).toString('hex') : '9c0d1e2f3a4b')
  const milliseconds = () => (noise ? randomInt(20, 900) : 250)
  return {
    isNoisy: noise === true,
    uuid: () => randomUUID(),
    id: (prefix, n) => (noise ? `${prefix}-${randomBytes(9).toString('base64url')}` : `${prefix}-${n}-fixed`),
    beside: () => (noise ? { requestId: uuid(), servedAt: time(), tookMs: milliseconds(), node: hex() } : {}),
    meta: () => (noise ? { _meta: { 'example.com/request': uuid() } } : {}),
    fill: (text) =>
      text
        .replaceAll('{{uuid}}', uuid)
        .replaceAll('{{time}}', time)
        .replaceAll('{{hex}}', hex)
        .replaceAll('{{ms}}', () => String(milliseconds())),
  }
}
