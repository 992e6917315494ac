// SDKs and frameworks of others, in pinned versions, in a cache folder outside the repository: JavaScript, Python and Go.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { NODE } from '../pinned.mjs'
import { root } from '../run.mjs'

const cache = process.env.REELAY_INTEROP_CACHE ?? join(userInfo().homedir, '.cache', 'reelay-interop')
const drivers = join(root, 'scripts', 'interop', 'drivers')
/** Where the results of the last runs are kept. */
export const resultFolder = join(cache, 'results')
const isWindows = process.platform === 'win32'

const PACKAGES = {
  '@ai-sdk/mcp': '2.0.96',
  '@langchain/mcp-adapters': '1.1.4',
  '@langchain/core': '1.2.13',
  '@langchain/langgraph': '1.4.12', // newer ones need a newer core
  '@mastra/mcp': '2.0.0',
  '@mastra/core': '1.71.0',
  '@openai/agents': '0.20.0',
  zod: '4.6.7',
  [NODE.name]: NODE.version,
}
const PYTHON = {
  python1: 'mcp==1.30.0',
  python2: 'mcp==2.3.0',
  fastmcp: 'fastmcp==4.1.2',
  agents: 'openai-agents==0.24.0',
}
const GO_SDK = 'v1.8.0'

const js = join(cache, 'js')
const python = (name) => join(cache, name, isWindows ? 'Scripts/python.exe' : 'bin/python')
const go = (name) => join(cache, 'go', 'bin', isWindows ? `${name}.exe` : name)
const frameworkNode = join(js, 'node_modules', NODE.name, 'bin', isWindows ? 'node.exe' : 'node')
const framework = (name) => [frameworkNode, join(js, 'drivers', `${name}.mjs`)]
const script = (name, file) => [python(name), join(drivers, file)]

const EVERY = ['stdio', 'http']

/**
 * Clients that take a whole order, and do it in one session. `modern` are the transports over which a client speaks 2026-07-28.
 * Only the Python SDK and FastMCP can be told to speak an older revision to a server that has both.
 */
export const DRIVERS = {
  'python 1': { title: 'Python SDK 1.30.0', command: script('python1', 'python_sdk.py') },
  'python 2': { title: 'Python SDK 2.3.0', command: script('python2', 'python_sdk.py'), modern: EVERY },
  fastmcp: { title: 'FastMCP 4.1.2', command: script('fastmcp', 'fastmcp_client.py'), modern: EVERY },
  'agents py': {
    title: 'OpenAI Agents for Python 0.24.0',
    command: script('agents', 'openai_agents.py'),
    modern: EVERY,
  },
  go: {
    title: `Go SDK ${GO_SDK.slice(1)}`,
    command: [go('client')],
    modern: EVERY,
  },
  'ai sdk': {
    title: `AI SDK ${PACKAGES['@ai-sdk/mcp']}`,
    command: framework('ai-sdk'),
    modern: ['http'],
    isNode: true,
  },
  langchain: {
    title: `LangChain ${PACKAGES['@langchain/mcp-adapters']}`,
    command: framework('langchain'),
    isNode: true,
  },
  mastra: {
    title: `Mastra ${PACKAGES['@mastra/mcp']}`,
    command: framework('mastra'),
    modern: EVERY,
    lacks: 'sse',
    isNode: true,
  },
  'agents js': {
    title: `OpenAI Agents ${PACKAGES['@openai/agents']}`,
    command: framework('openai-agents'),
    modern: EVERY,
    isNode: true,
  },
}

/** The command of a client of the Python SDK whose call is held. */
export const pythonHeldClient = (name) => [...script(name, 'held_client.py'), {}]

/** The commands of small servers, by transport and port. */
export const SMALL_SERVERS = {
  'python 1': { title: 'Python SDK 1.30.0', command: script('python1', 'python_server.py') },
  'python 2': { title: 'Python SDK 2.3.0', command: script('python2', 'python_server.py') },
  fastmcp: { title: 'FastMCP 4.1.2', command: script('fastmcp', 'python_server.py') },
  go: { title: `Go SDK ${GO_SDK.slice(1)}`, command: [go('server')] },
}

/** Installs what is missing. Throws if a program is not there to do it. */
export function installEcosystem() {
  installPackages()
  for (const [name, wanted] of Object.entries(PYTHON)) installPython(name, wanted)
  buildGo()
}

function installPackages() {
  const isThere = ([name, version]) => {
    const file = join(js, 'node_modules', name, 'package.json')
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version
  }
  if (!Object.entries(PACKAGES).every(isThere)) {
    const wanted = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`)
    console.log(`installing ${wanted.join(', ')}`)
    mkdirSync(js, { recursive: true })
    // All peers that are needed are in the list. npm takes minutes to find others by itself.
    const quiet = [
      '--no-save',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--legacy-peer-deps',
    ]
    need(isWindows ? 'npm.cmd' : 'npm', ['install', '--prefix', js, ...quiet, ...wanted], js)
  }
  // A module finds its packages by its place.
  cpSync(drivers, join(js, 'drivers'), { recursive: true })
}

/** Installs the Python SDK when needed, and returns the Python that has it. */
export function installPythonSdk() {
  installPython('python1', PYTHON.python1)
  return python('python1')
}

function installPython(name, wanted) {
  const mark = join(cache, name, '.installed')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return
  console.log(`installing ${wanted}`)
  mkdirSync(cache, { recursive: true })
  need(isWindows ? 'python' : 'python3', ['-m', 'venv', join(cache, name)], cache)
  need(python(name), ['-m', 'pip', 'install', '--quiet', wanted], cache)
  writeFileSync(mark, wanted)
}

function buildGo() {
  const folder = join(cache, 'go')
  mkdirSync(folder, { recursive: true })
  cpSync(join(drivers, 'go'), folder, { recursive: true })
  if (!existsSync(join(folder, 'go.mod'))) {
    need('go', ['mod', 'init', 'interop'], folder)
    need('go', ['get', `github.com/modelcontextprotocol/go-sdk@${GO_SDK}`], folder)
    need('go', ['mod', 'tidy'], folder)
  }
  need('go', ['build', '-o', 'bin/', './client', './server'], folder)
}

function need(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: command.endsWith('.cmd'),
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`)
}
