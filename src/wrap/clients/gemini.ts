import { join } from 'node:path'
import type { WrappableClient } from './client.ts'

export const gemini: WrappableClient = {
  name: 'gemini',
  format: 'json',
  root: ['mcpServers'],
  configLocations({ home, cwd }) {
    return [cwd, home].map((folder) => ({
      file: join(folder, '.gemini', 'settings.json'),
      roots: [this.root],
    }))
  },
}
