import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { findProgram } from './server-shims.ts'

interface Program {
  readonly command: readonly [string, ...string[]]
  readonly env: NodeJS.ProcessEnv
}

/** A program, and the URLs that were changed for it. */
export interface ProxiedProgram extends Program {
  readonly changed: readonly string[]
}

/**
 * Go never uses a proxy for localhost and loopback addresses, but it compares the text: with a dot at the end, the host is the same for
 * the resolver and another one for Go. The dot is added to the URLs that a Go program gets as arguments and in variables.
 */
export function withProxiedLocalUrls(program: Program): ProxiedProgram {
  if (!isGoProgram(program.command[0])) return { ...program, changed: [] }
  const changed = new Set<string>()
  const changedText = (text: string): string =>
    text.replaceAll(LOCAL_ORIGIN, (...[origin, host, port = '']: readonly string[]) => {
      changed.add(origin ?? '')
      return `http://${host}.${port}`
    })
  const [name, ...args] = program.command
  const variables = Object.entries(program.env).filter(
    ([variable]) => !/^(http|https|all|no)_proxy$/i.test(variable),
  )
  const env = Object.fromEntries(variables.map(([variable, text = '']) => [variable, changedText(text)]))
  return { command: [name, ...args.map(changedText)], env: { ...program.env, ...env }, changed: [...changed] }
}

const LOCAL_ORIGIN = /\bhttp:\/\/(localhost|127(?:\.\d{1,3}){3})(:\d+)?(?![\w.@:-])/gi

/** Every Go program contains this text, followed by the version of Go. */
const BUILD_INFO = Buffer.from('\u00ff Go buildinf:', 'latin1')

function isGoProgram(name: string): boolean {
  if (/^go(\.exe)?$/i.test(basename(name))) return true
  const path = /[/\\]/.test(name) ? name : findProgram(name)
  if (path === undefined) return false
  try {
    return readFileSync(path).includes(BUILD_INFO)
  } catch {
    return false // it is too large, or cannot be read
  }
}
