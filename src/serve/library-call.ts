import type { Loosening } from '../match/loosening.ts'

/** The call of the library that plays a tape under these options. */
export function libraryCall(call: string, { ignore, permissive }: Loosening): string {
  const options = [
    ...(ignore.length === 0 ? [] : [`ignore: ${JSON.stringify(ignore)}`]),
    ...(permissive ? ['permissive: true'] : []),
  ]
  return `${call}(tape, { ${options.join(', ')} })`
}
