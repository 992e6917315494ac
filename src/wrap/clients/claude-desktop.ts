import { join } from 'node:path'
import type { Client } from '../client.ts'
import { configFolder } from './config-folder.ts'

export const claudeDesktop: Client = {
  name: 'claude-desktop',
  format: 'json',
  root: ['mcpServers'],
  spots(where) {
    return [{ file: join(configFolder(where), 'Claude', 'claude_desktop_config.json'), roots: [this.root] }]
  },
}
