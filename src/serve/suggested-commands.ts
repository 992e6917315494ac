import { quoteShellWord, quoteTapeArgument } from '../text.ts'
import type { SuggestedMatchOptions } from '../match/options.ts'
import type { TapeServer } from '../tape/header.ts'

/** Formats the command that serves a tape with these options, quoted for a shell. */
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

/** Formats the command that records the same server again. Returns `undefined` if the tape does not say how. */
export function recordCommandLine({ command, url }: Pick<TapeServer, 'command' | 'url'>): string | undefined {
  if (command !== undefined) return `reelay record -- ${command.map(quoteShellWord).join(' ')}`
  return url === undefined ? undefined : `reelay record --url ${quoteShellWord(url)}`
}

/** Formats the library call that plays a tape with these options. */
export function libraryCallText(
  call: string,
  { server, match, ignore, rules, permissive }: SuggestedMatchOptions,
): string {
  const options = [
    ...(server === undefined ? [] : [`server: ${JSON.stringify(server)}`]),
    ...(match === undefined ? [] : [`match: ${JSON.stringify(match)}`]),
    ...(ignore.length === 0 ? [] : [`ignore: ${JSON.stringify(ignore)}`]),
    ...(rules.length === 0 ? [] : [`rules: ${JSON.stringify(rules)}`]),
    ...(permissive ? ['permissive: true'] : []),
  ]
  return `${call}(tape, { ${options.join(', ')} })`
}
