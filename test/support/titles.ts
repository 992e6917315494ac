import { readFileSync } from 'node:fs'

/** Whether a test file holds a test of this very title. */
export function hasTest(file: string, title: string): boolean {
  const source = readFileSync(file, 'utf8')
  const quoted = [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``]
  return quoted.some((text) => source.includes(text))
}
