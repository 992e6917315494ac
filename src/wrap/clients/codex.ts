import { join } from 'node:path'
import type { WrappableClient } from './client.ts'

export const codex: WrappableClient = {
  name: 'codex',
  format: 'toml',
  root: ['mcp_servers'],
  configLocations({ env, home, cwd }) {
    const folders = [join(cwd, '.codex'), env['CODEX_HOME'] || join(home, '.codex')]
    return folders.map((folder) => ({ file: join(folder, 'config.toml'), roots: [this.root] }))
  },
}
