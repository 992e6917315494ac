/** Whether a server of this name is meant. */
export type ServerFilter = (server: string) => boolean

/** Reads names that are separated by commas; `*` in a name stands for anything. Without a text every server is meant. */
export function serverFilter(text: string | undefined): ServerFilter {
  if (text === undefined) return () => true
  const patterns = text.split(',').map((name) => patternOf(name.trim()))
  return (server) => patterns.some((pattern) => pattern.test(server))
}

function patternOf(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`, 'su')
}
