import { join } from 'node:path'
import type { Client } from '../client.ts'

export const gemini: Client = {
  name: 'gemini',
  format: 'json',
  root: ['mcpServers'],
  spots({ home, cwd }) {
    return [cwd, home].map((folder) => ({
      file: join(folder, '.gemini', 'settings.json'),
      roots: [this.root],
    }))
  },
}
