import { join } from 'node:path'
import type { Client } from '../client.ts'

export const cursor: Client = {
  name: 'cursor',
  format: 'json',
  root: ['mcpServers'],
  spots({ home, cwd }) {
    return [cwd, home].map((folder) => ({ file: join(folder, '.cursor', 'mcp.json'), roots: [this.root] }))
  },
}
