import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The command that starts this program again, with absolute paths: Node and its script, or the single-file binary alone. */
export function reelayCommand(): readonly [string, ...string[]] {
  const script = realpathSync(process.argv[1] ?? '')
  return script === realpathSync(process.execPath) ? [process.execPath] : [process.execPath, script]
}

/** The entry of an MCP client's config that starts this program with some arguments: by name if the user did so, else by path. */
export function clientEntry(args: readonly string[]): ClientEntry {
  const isOnPath = basename(process.argv[1] ?? '') === 'reelay'
  const [command, ...script] = isOnPath ? ['reelay'] : reelayCommand()
  return { command: command ?? 'reelay', args: [...script, ...args] }
}

/** A server in the config of an MCP client: a command that the client starts, or a URL. */
export type ClientEntry =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly type: 'http' | 'sse'; readonly url: string }

/** The line that users paste into the config of their client. */
export function clientConfigLine(server: string, entry: ClientEntry): string {
  return `config for a client: ${JSON.stringify({ mcpServers: { [server]: entry } })}`
}

/** Writes `docs/…` as a path that can be opened, because users have the pages in the package. */
export function withDocsPaths(text: string): string {
  return text.replaceAll(/\bdocs\/([\w/-]+\.md)/g, (page, path: string) => {
    const file = join(dirname(realpathSync(process.argv[1] ?? '.')), '..', '..', 'docs', path)
    return existsSync(file) ? file : `${page} of Reelay`
  })
}
