import { join } from 'node:path'
import type { UserEnvironment } from './client.ts'

/** Where desktop programs keep their settings: each in a folder of its own under this one. */
export function desktopConfigFolder({ platform, env, home }: UserEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming')
  return env['XDG_CONFIG_HOME'] || join(home, '.config')
}
