import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DemoPeer, type DemoOutcome } from './peer.ts'
import { member } from '../json/parse.ts'
import type { Request } from '../protocol/message.ts'

/** The MCP server of `reelay demo`: stdio, hand-written, no SDK. It runs until stdin ends. */
export function runDemoServer(): void {
  peer = new DemoPeer({
    input: process.stdin,
    output: process.stdout,
    onRequest: handleRequest,
    onNotification: () => {},
  })
  process.stderr.write(`demo server ready, pid ${process.pid}\n`)
}

let peer: DemoPeer | undefined
let clientSupportsElicitation = false

function handleRequest(request: Request): DemoOutcome | Promise<DemoOutcome> {
  switch (request.method) {
    case 'initialize':
      return initialize(request.params)
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: { tools: DEMO_TOOLS.map(describeTool) } }
    case 'tools/call':
      return callTool(request)
    default:
      return { error: { code: -32601, message: `Method not found: ${request.method}` } }
  }
}

function initialize(params: unknown): DemoOutcome {
  clientSupportsElicitation = member(member(params, 'capabilities'), 'elicitation') !== undefined
  return {
    result: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'reelay-demo-server', version: '1.0.0' },
    },
  }
}

function describeTool({ name, description, argument }: DemoTool): object {
  const inputSchema = {
    type: 'object',
    properties: { [argument]: { type: 'string' } },
    required: [argument],
  }
  return { name, description, inputSchema, annotations: { readOnlyHint: true } }
}

async function callTool(request: Request): Promise<DemoOutcome> {
  const name = member(request.params, 'name')
  const tool = DEMO_TOOLS.find((candidate) => candidate.name === name)
  if (tool === undefined) return { error: { code: -32602, message: `Unknown tool: ${String(name)}` } }
  const value = member(member(request.params, 'arguments'), tool.argument)
  if (typeof value !== 'string') return textResult(`"${tool.argument}" must be a text`, true)
  return textResult(await tool.run(value, toolContextFor(request)), false)
}

function textResult(text: string, isError: boolean): DemoOutcome {
  return { result: { content: [{ type: 'text', text }], isError } }
}

function toolContextFor(request: Request): DemoToolContext {
  const progressToken = member(member(request.params, '_meta'), 'progressToken')
  return {
    reportProgress: (progress, total, message) => {
      if (progressToken === undefined) return
      peer?.notify('notifications/progress', { progressToken, progress, total, message })
    },
    ask: askClient,
  }
}

async function askClient(message: string, choices: readonly string[]): Promise<string | undefined> {
  if (!clientSupportsElicitation) return undefined
  const requestedSchema = {
    type: 'object',
    properties: { choice: { type: 'string', enum: choices } },
    required: ['choice'],
  }
  const outcome = await peer?.request('elicitation/create', { message, requestedSchema })
  const choice =
    outcome && 'result' in outcome ? member(member(outcome.result, 'content'), 'choice') : undefined
  return typeof choice === 'string' ? choice : undefined
}

interface DemoTool {
  readonly name: string
  readonly description: string
  /** Name of the tool's only argument, a string. */
  readonly argument: string
  readonly run: (value: string, caller: DemoToolContext) => Promise<string>
}

/** What a tool can send to the client while it runs. */
interface DemoToolContext {
  readonly reportProgress: (done: number, total: number, message: string) => void
  /** Asks the client to choose. Returns `undefined` if the client cannot be asked or declines. */
  readonly ask: (question: string, choices: readonly string[]) => Promise<string | undefined>
}

/** Every result contains a random value, so receiving the same one twice proves a replay. */
const DEMO_TOOLS: readonly DemoTool[] = [
  {
    name: 'weather',
    description: 'Say what the weather is like in a city.',
    argument: 'city',
    run: async (city) => {
      await sleep(60)
      return `${randomInt(5, 30)} °C in ${city} (ticket ${randomTicket()})`
    },
  },
  {
    name: 'count_words',
    description: 'Count the words of a text.',
    argument: 'text',
    run: async (text) => `${text.match(/\S+/g)?.length ?? 0} words, counted at ${new Date().toISOString()}`,
  },
  {
    name: 'forecast_trip',
    description: 'Plan a trip: reports progress, then asks how to travel.',
    argument: 'to',
    run: async (to, caller) => {
      for (const [index, subject] of ['maps', 'weather', 'tickets'].entries()) {
        await sleep(30)
        caller.reportProgress(index + 1, 3, `looked at ${subject}`)
      }
      const means = await caller.ask('By train or by plane?', ['train', 'plane'])
      return `${to} by ${means ?? 'foot'}, seat ${randomInt(1, 90)} (ticket ${randomTicket()})`
    },
  },
]

function randomTicket(): string {
  return randomBytes(4).toString('hex')
}
