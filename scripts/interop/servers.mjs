// The servers, each over the transports that it speaks. `instead` makes another command of the one that is reached over stdio.
import { end, firstMatch, freePort, start } from '../processes.mjs'
import { everything, filesystem, mcpProxy, memory } from './programs.mjs'

const TOUR = [
  {},
  { tool: 'echo', args: { message: 'žluťoučký 🐎' } },
  { tool: 'get-sum', args: { a: 2, b: 40.5 } },
  { tool: 'get-structured-content', args: { location: 'Chicago' } },
]

export const SERVERS = {
  everything: {
    title: 'server-everything',
    tasks: TOUR,
    stdio: async (instead = itself) => overStdio(instead([...everything, 'stdio'])),
    http: () => overHttp({ command: [...everything, 'streamableHttp'], path: '/mcp', transport: 'http' }),
    sse: () => overHttp({ command: [...everything, 'sse'], path: '/sse', transport: 'sse' }),
  },
  filesystem: {
    title: 'server-filesystem',
    tasks: [
      {},
      { tool: 'list_allowed_directories', args: {} },
      { tool: 'list_directory', args: { path: '.' } },
    ],
    stdio: async (instead = itself) => overStdio(instead([...filesystem, process.cwd()])),
  },
  memory: {
    title: 'server-memory',
    tasks: [{}, { tool: 'read_graph', args: {} }],
    stdio: async (instead = itself) => overStdio(instead(memory)),
  },
  proxy: {
    title: `${mcpProxy.title} in front of server-everything`,
    tasks: TOUR,
    // Here it is the proxy that talks over stdio, to the server behind it.
    stdio: (instead) => proxied({ instead, path: '/mcp', transport: 'http' }),
    http: () => proxied({ path: '/mcp', transport: 'http' }),
    sse: () => proxied({ path: '/sse', transport: 'sse' }),
  },
}

function itself(command) {
  return command
}

function overStdio(command) {
  return { target: { command }, stop: async () => {} }
}

async function proxied({ instead = itself, path, transport }) {
  const port = await freePort()
  const options = ['--host', '127.0.0.1', '--port', String(port)]
  const command = [...mcpProxy.command, ...options, '--', ...instead([...everything, 'stdio'])]
  return overHttp({ command, port, path, transport })
}

async function overHttp({ command, port, path, transport }) {
  const chosen = port ?? (await freePort())
  const env = { ...process.env, PORT: String(chosen) }
  const child = start(command, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  await Promise.any([child.stdout, child.stderr].map((stream) => firstMatch(child, stream, / on port \d+/)))
  child.stdout.resume()
  child.stderr.resume()
  return { target: { url: `http://127.0.0.1:${chosen}${path}`, transport }, stop: () => end(child) }
}
