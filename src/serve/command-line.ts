import type { Loosening } from '../match/loosening.ts'

/** The command that serves a tape under these options, ready to be pasted into a shell. */
export function serveCommandLine(
  tape: string,
  server: string | undefined,
  { ignore, permissive }: Pick<Loosening, 'ignore' | 'permissive'>,
): string {
  return [
    'reelay serve',
    shellWord(tape.startsWith('-') ? `./${tape}` : tape),
    ...(server === undefined ? [] : ['--server', shellWord(server)]),
    ...ignore.flatMap((path) => ['--ignore', shellWord(path)]),
    ...(permissive ? ['--permissive'] : []),
  ].join(' ')
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
