import { join } from 'node:path'
import type { Client } from '../client.ts'
import { configFolder } from './config-folder.ts'

export const vscode: Client = {
  name: 'vscode',
  format: 'json',
  root: ['servers'],
  spots(where) {
    const files = [
      join(where.cwd, '.vscode', 'mcp.json'),
      join(configFolder(where), 'Code', 'User', 'mcp.json'),
    ]
    return files.map((file) => ({ file, roots: [this.root] }))
  },
}
