import type { SuggestedMatchOptions } from '../match/loosening.ts'
import type { TapeServer } from '../tape/header.ts'
import { quoteShellWord, quoteTapeArgument } from '../match/shell-word.ts'

/** The command that serves a tape under these options, ready to be pasted into a shell. */
export function serveCommandLine(
  tape: string,
  server: string | undefined,
  { match, rules, ignore, permissive, server: other = server }: SuggestedMatchOptions,
): string {
  return [
    'reelay serve',
    quoteTapeArgument(tape),
    ...(other === undefined ? [] : ['--server', quoteShellWord(other)]),
    ...(match === undefined ? [] : ['--match', quoteShellWord(match)]),
    ...ignore.flatMap((path) => ['--ignore', quoteShellWord(path)]),
    ...rules.flatMap((rule) => ['--rule', quoteShellWord(rule)]),
    ...(permissive ? ['--permissive'] : []),
  ].join(' ')
}

/** The command that records the same server once more, as far as the tape knows it. */
export function recordCommandLine({ command, url }: Pick<TapeServer, 'command' | 'url'>): string | undefined {
  if (command !== undefined) return `reelay record -- ${command.map(quoteShellWord).join(' ')}`
  return url === undefined ? undefined : `reelay record --url ${quoteShellWord(url)}`
}
