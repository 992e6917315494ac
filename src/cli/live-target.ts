import { ReelayError } from '../errors.ts'
import type { UpstreamTarget } from '../serve/live-target.ts'
import { parseServerUrl } from '../http/client/upstream.ts'
import { readHeaderOption } from './options/value-readers.ts'

/** How the command line names a live server that is there. */
export interface LiveServerFlags {
  readonly url?: string
  readonly header?: readonly string[]
}

/** The live server that the user named, if any: a command or a URL. */
export function readLiveTarget(
  [file, ...args]: readonly string[],
  { url, header = [] }: LiveServerFlags,
): UpstreamTarget | undefined {
  if (file !== undefined && url !== undefined)
    throw liveTargetUsageError(
      'both a command and a --url were given',
      'there is one live server: leave one of them out',
    )
  if (url === undefined && header.length > 0)
    throw liveTargetUsageError('--header goes with --url', 'it is sent to the live server at that URL')
  if (url !== undefined) return { kind: 'url', url: parseServerUrl(url), headers: readTargetHeaders(header) }
  return file === undefined ? undefined : { kind: 'command', command: [file, ...args] }
}

function readTargetHeaders(texts: readonly string[]): Readonly<Record<string, string>> {
  const headers = texts.map((text) => readHeaderOption(text, process.env))
  return Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]))
}

function liveTargetUsageError(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
