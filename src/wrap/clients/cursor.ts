import { join } from 'node:path'
import type { WrappableClient } from './client.ts'

export const cursor: WrappableClient = {
  name: 'cursor',
  format: 'json',
  root: ['mcpServers'],
  configLocations({ home, cwd }) {
    return [cwd, home].map((folder) => ({ file: join(folder, '.cursor', 'mcp.json'), roots: [this.root] }))
  },
}
