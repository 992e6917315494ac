import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, member, parseJson } from '../../json/parse.ts'
import { InputSchema, type ListedTool } from '../../scenario/tool-arguments.ts'
import { writePrivateFile } from '../../store/file/write.ts'
import { homeFolder } from '../../store/home.ts'

/** The tools of the last servers that `reelay call` has asked, for the completion in shells, which starts no server. */
interface KnownTools {
  readonly [tool: string]: readonly string[]
}

const MOST_TOOLS = 500

/** Keeps names only: descriptions may contain anything. A failure is not worth an error. */
export function keepToolsForCompletion(tools: readonly ListedTool[]): void {
  try {
    const asked = tools.filter(({ name }) => isPlain(name)).map((tool) => [tool.name, argumentNames(tool)])
    const kept = Object.entries(readKnownTools()).filter(
      ([name]) => !tools.some((tool) => tool.name === name),
    )
    const all = Object.fromEntries([...asked, ...kept].slice(0, MOST_TOOLS)) as KnownTools
    writePrivateFile(knownToolsFile(), `${JSON.stringify(all)}\n`)
  } catch {
    // Without the file, names are not completed.
  }
}

export function readKnownTools(): KnownTools {
  try {
    const known = parseJson(readFileSync(knownToolsFile(), 'utf8'))
    if (!isObject(known)) return {}
    const entries = Object.keys(known).filter(isPlain)
    return Object.fromEntries(
      entries.map((name) => {
        const names = member(known, name)
        return [
          name,
          Array.isArray(names) ? names.filter((each) => typeof each === 'string' && isPlain(each)) : [],
        ]
      }),
    )
  } catch {
    return {} // nothing was called yet
  }
}

function argumentNames(tool: ListedTool): readonly string[] {
  return new InputSchema(tool).names.filter(isPlain)
}

/** Shells would interpret other names. */
function isPlain(name: string): boolean {
  return /^[\w./-]+$/.test(name)
}

function knownToolsFile(): string {
  return join(homeFolder(), 'known-tools.json')
}
