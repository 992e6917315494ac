import { join } from 'node:path'
import { type WrappableClient, type UserEnvironment, desktopConfigFolder } from './client.ts'

export const zed: WrappableClient = {
  name: 'zed',
  format: 'json',
  root: ['context_servers'],
  configLocations(where) {
    const files = [join(where.cwd, '.zed', 'settings.json'), join(zedConfigFolder(where), 'settings.json')]
    return files.map((file) => ({ file, roots: [this.root] }))
  },
}

// On macOS, Zed keeps its settings in the same place as on Linux.
function zedConfigFolder(where: UserEnvironment): string {
  if (where.platform === 'darwin') return join(where.home, '.config', 'zed')
  return join(desktopConfigFolder(where), where.platform === 'win32' ? 'Zed' : 'zed')
}
