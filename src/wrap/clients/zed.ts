import { join } from 'node:path'
import type { Client, Where } from '../client.ts'
import { configFolder } from './config-folder.ts'

export const zed: Client = {
  name: 'zed',
  format: 'json',
  root: ['context_servers'],
  spots(where) {
    const files = [join(where.cwd, '.zed', 'settings.json'), join(zedFolder(where), 'settings.json')]
    return files.map((file) => ({ file, roots: [this.root] }))
  },
}

// On macOS Zed keeps its settings where it does on Linux.
function zedFolder(where: Where): string {
  if (where.platform === 'darwin') return join(where.home, '.config', 'zed')
  return join(configFolder(where), where.platform === 'win32' ? 'Zed' : 'zed')
}
