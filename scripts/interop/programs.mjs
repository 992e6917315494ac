// Clients and servers that we did not write, in pinned versions; some need a newer Node than ours.
import { join } from 'node:path'
import { pinned } from '../pinned.mjs'
import { root } from '../run.mjs'

const MCPORTER = { name: 'mcporter', version: '0.12.3' }
const INSPECTOR = { name: '@modelcontextprotocol/inspector', version: '2.12.0' }
const PROXY = { name: 'mcp-proxy', version: '6.7.19' }

const { install, file, node } = pinned('reelay-interop', [MCPORTER, INSPECTOR, PROXY])
const reference = (name) => join(root, 'node_modules', '@modelcontextprotocol', name, 'dist', 'index.js')

export { install as installPrograms, node as newerNode }

export const inspector = {
  title: `Inspector CLI ${INSPECTOR.version}`,
  command: [node, file(INSPECTOR.name, 'clients', 'launcher', 'build', 'index.js'), '--cli'],
}
export const mcporter = {
  title: `mcporter ${MCPORTER.version}`,
  command: [node, file(MCPORTER.name, 'dist', 'cli.js')],
}
export const mcpProxy = {
  title: `mcp-proxy ${PROXY.version}`,
  command: [node, file(PROXY.name, 'dist', 'bin', 'mcp-proxy.mjs')],
}
export const everything = [process.execPath, reference('server-everything')]
export const filesystem = [process.execPath, reference('server-filesystem')]
export const memory = [process.execPath, reference('server-memory')]
