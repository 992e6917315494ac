import { join } from 'node:path'
import type { WrappableClient } from './client.ts'

/** Project servers (`.mcp.json`), user servers, and the user's servers for this project. */
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
