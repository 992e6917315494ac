// The MCP server of `reelay demo`: stdio, written by hand, no SDK. It is a program of its own, started by its path.
import { member, type Request } from '../protocol/message.ts'
import { DemoPeer, type DemoOutcome } from './peer.ts'
import { DEMO_TOOLS, type DemoToolContext, type DemoTool } from './tools.ts'

let clientSupportsElicitation = false

const peer = new DemoPeer({
  input: process.stdin,
  output: process.stdout,
  onRequest: handleRequest,
  onNotification: () => {},
})
process.stderr.write(`demo server ready, pid ${process.pid}\n`)

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
      peer.notify('notifications/progress', { progressToken, progress, total, message })
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
  const outcome = await peer.request('elicitation/create', { message, requestedSchema })
  const choice =
    outcome && 'result' in outcome ? member(member(outcome.result, 'content'), 'choice') : undefined
  return typeof choice === 'string' ? choice : undefined
}
