import type { Loosening } from '../match/loosening.ts'
import type { ServerInfo } from '../tape/header.ts'
import { shellWord, tapeWord } from '../match/shell-word.ts'

/** The command that serves a tape under these options, ready to be pasted into a shell. */
export function serveCommandLine(
  tape: string,
  server: string | undefined,
  { match, rules, ignore, permissive, server: other = server }: Loosening,
): string {
  return [
    'reelay serve',
    tapeWord(tape),
    ...(other === undefined ? [] : ['--server', shellWord(other)]),
    ...(match === undefined ? [] : ['--match', shellWord(match)]),
    ...ignore.flatMap((path) => ['--ignore', shellWord(path)]),
    ...rules.flatMap((rule) => ['--rule', shellWord(rule)]),
    ...(permissive ? ['--permissive'] : []),
  ].join(' ')
}

/** The command that records the same server once more, as far as the tape knows it. */
export function recordCommandLine({ command, url }: Pick<ServerInfo, 'command' | 'url'>): string | undefined {
  if (command !== undefined) return `reelay record -- ${command.map(shellWord).join(' ')}`
  return url === undefined ? undefined : `reelay record --url ${shellWord(url)}`
}
