import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DoctorFinding } from './doctor/local-checks.ts'

/** Whether recorders can write to the tape folder, and nobody else can look into it. */
export function checkTapeFolder(folder: string, platform: NodeJS.Platform): readonly DoctorFinding[] {
  const existing = nearestExistingFolder(folder)
  const problem = folderProblem(existing)
  if (problem !== undefined) {
    const about = `tapes cannot be written to ${folder}: ${problem}`
    return [
      { kind: 'tapes-unwritable', about, hint: 'sessions go on, without a tape; see who may write there' },
    ]
  }
  const mode = statSync(existing).mode & 0o777
  if (existing !== folder || platform === 'win32' || (mode & 0o077) === 0) return []
  const about = `others can look into ${folder}: its mode is 0${mode.toString(8)}`
  return [{ kind: 'tapes-not-private', about, hint: `tapes may hold secrets: chmod 700 ${folder}` }]
}

/** A folder that is not there yet is made by the first recorder. */
function nearestExistingFolder(folder: string): string {
  const above = dirname(folder)
  return existsSync(folder) || above === folder ? folder : nearestExistingFolder(above)
}

function folderProblem(folder: string): string | undefined {
  if (!statSync(folder).isDirectory()) return `${folder} is no folder`
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
