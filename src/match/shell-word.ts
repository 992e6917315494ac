/** A word as it can be pasted into a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The name of a tape as an argument: one that begins with a dash would be taken for an option. */
export function tapeWord(tape: string): string {
  return shellWord(tape.startsWith('-') ? `./${tape}` : tape)
}
