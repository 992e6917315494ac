import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { indentJson } from '../../report/json-text.ts'
import { ReelayError } from '../../errors.ts'
import { parseJson } from '../../json/parse.ts'

/**
 * Opens the user's editor on a JSON text. Resolves with the new text, or with `undefined` if nothing was changed. The file is private
 * and is removed afterwards.
 */
export async function editJson(
  text: string,
  { isTerminal }: { readonly isTerminal: boolean },
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-edit-'))
  const file = join(folder, 'message.json')
  try {
    const before = `${indentJson(text)}\n`
    await writeFile(file, before, { mode: 0o600 })
    await openEditor(file, isTerminal)
    const after = await readFile(file, 'utf8')
    if (after === before) return undefined
    if (parseJson(after) === undefined)
      throw new ReelayError('USAGE', `the edited message is not valid JSON: ${jsonProblem(after)}`, {
        hint: 'edit it again; the message is unchanged',
      })
    return after
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function openEditor(file: string, isTerminal: boolean): Promise<void> {
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || (IS_WINDOWS ? 'notepad' : 'vi')
  // The variable may contain arguments, as in `code --wait`. In a script, stdin has the commands.
  const stdio = [isTerminal ? 'inherit' : 'ignore', 'inherit', 'inherit'] as const
  const child = IS_WINDOWS
    ? spawn(`${editor} "${file}"`, { shell: true, stdio: [...stdio] })
    : spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: [...stdio] })
  const [code]: unknown[] = await once(child, 'close')
  if (code !== 0)
    throw new ReelayError('USAGE', `the editor ${JSON.stringify(editor)} ended with ${String(code)}`, {
      hint: 'set VISUAL or EDITOR to an editor that waits until the file is closed, such as vim or "code --wait"',
    })
}

const IS_WINDOWS = process.platform === 'win32'

function jsonProblem(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
