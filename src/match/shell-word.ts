/** A word as it can be pasted into a shell. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The name of a tape as an argument: one that begins with a dash would be taken for an option. */
export function quoteTapeArgument(tape: string): string {
  return quoteShellWord(tape.startsWith('-') ? `./${tape}` : tape)
}
