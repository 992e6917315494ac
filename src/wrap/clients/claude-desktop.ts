import { join } from 'node:path'
import { type WrappableClient, desktopConfigFolder } from './client.ts'

export const claudeDesktop: WrappableClient = {
  name: 'claude-desktop',
  format: 'json',
  root: ['mcpServers'],
  configLocations(where) {
    return [
      { file: join(desktopConfigFolder(where), 'Claude', 'claude_desktop_config.json'), roots: [this.root] },
    ]
  },
}
