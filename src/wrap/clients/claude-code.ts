import { join } from 'node:path'
import type { WrappableClient } from './client.ts'

/** Servers of the project for all (`.mcp.json`), of the user, and of the user in this project alone. */
export const claudeCode: WrappableClient = {
  name: 'claude-code',
  format: 'json',
  root: ['mcpServers'],
  configLocations({ env, home, cwd }) {
    const folder = env['CLAUDE_CONFIG_DIR'] || home
    const inThisProject = ['projects', cwd, 'mcpServers']
    return [
      { file: join(cwd, '.mcp.json'), roots: [this.root] },
      { file: join(folder, '.claude.json'), roots: [this.root, inThisProject] },
    ]
  },
}
