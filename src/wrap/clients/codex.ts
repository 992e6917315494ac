import { join } from 'node:path'
import type { Client } from '../client.ts'

export const codex: Client = {
  name: 'codex',
  format: 'toml',
  root: ['mcp_servers'],
  spots({ env, home, cwd }) {
    const folders = [join(cwd, '.codex'), env['CODEX_HOME'] || join(home, '.codex')]
    return folders.map((folder) => ({ file: join(folder, 'config.toml'), roots: [this.root] }))
  },
}
