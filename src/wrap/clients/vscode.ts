import { join } from 'node:path'
import { type WrappableClient, desktopConfigFolder } from './client.ts'

export const vscode: WrappableClient = {
  name: 'vscode',
  format: 'json',
  root: ['servers'],
  configLocations(where) {
    const files = [
      join(where.cwd, '.vscode', 'mcp.json'),
      join(desktopConfigFolder(where), 'Code', 'User', 'mcp.json'),
    ]
    return files.map((file) => ({ file, roots: [this.root] }))
  },
}
