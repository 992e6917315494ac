import type { SuggestedMatchOptions } from '../match/loosening.ts'

/** The call of the library that plays a tape under these options. */
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
