import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** The command that starts this program again, with absolute paths: Node and its script, or the single-file binary alone. */
export function reelayCommand(): readonly [string, ...string[]] {
  const script = realpathSync(process.argv[1] ?? '')
  return script === realpathSync(process.execPath) ? [process.execPath] : [process.execPath, script]
}

/** The entry of an MCP client's config that starts this program with some arguments: by name if a client can find it, else by path. */
export function clientEntry(args: readonly string[]): ClientEntry {
  const [command, ...script] = isOnPath() ? ['reelay'] : reelayCommand()
  return { command: command ?? 'reelay', args: [...script, ...args.map(fromAnyFolder)] }
}

/** npx and the scripts of a package put a folder on the PATH that a client does not have there. */
export function isOnPath(): boolean {
  const program = process.argv[1] ?? ''
  return basename(program) === 'reelay' && !dirname(program).endsWith(join('node_modules', '.bin'))
}

/** A client starts the command in a folder of its own, so the path of a file has to be absolute. */
function fromAnyFolder(word: string): string {
  const looksLikePath = /^\.{1,2}$|[/\\]|\.\w+$/.test(word) && !word.startsWith('-') && !word.includes('://')
  return looksLikePath && existsSync(word) ? resolve(word) : word
}

/** A server in the config of an MCP client: a command that the client starts, or a URL. */
export type ClientEntry =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly type: 'http' | 'sse'; readonly url: string }

/** The line that users paste into the config of their client. */
export function clientConfigLine(server: string, entry: ClientEntry): string {
  return `config for a client: ${JSON.stringify({ mcpServers: { [server]: entry } })}`
}

/** The folder of the installed package, from which `npm pack` makes a file. The single-file binary has none. */
export function packageFolder(): string | undefined {
  const [, script] = reelayCommand()
  const folder = script === undefined ? undefined : join(dirname(script), '..', '..')
  return folder !== undefined && existsSync(join(folder, 'docs')) ? folder : undefined
}

/** Writes `docs/…` as a path that can be opened, because users have the pages in the package. */
export function withDocsPaths(text: string): string {
  return text.replaceAll(/\bdocs\/([\w/-]+\.md)/g, (page, path: string) => {
    const file = join(dirname(realpathSync(process.argv[1] ?? '.')), '..', '..', 'docs', path)
    return existsSync(file) ? file : `${page} of Reelay`
  })
}
