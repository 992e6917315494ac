import { ReelayError } from '../../errors.ts'
import type { ReplayTarget } from '../../replay/options.ts'
import { commandTarget, sseTarget, urlTarget } from '../../replay/targets.ts'
import { withEnvironment } from '../../replay/transform/setting.ts'
import type { ReplayFlags } from '../options/replay-options.ts'

/** The live server that the user named: exactly one of a command and a URL. */
export function readReplayTarget(
  command: readonly string[],
  { url, sse, header = [] }: ReplayFlags,
): ReplayTarget {
  const [file, ...args] = command
  if ((file === undefined) === (url === undefined)) throw targetUsageError(file !== undefined)
  if (file !== undefined)
    return commandTarget([file, ...args], { onStderr: (chunk) => process.stderr.write(chunk) })
  const headers = Object.fromEntries(header.map(readTargetHeader))
  const address = readTargetUrl(url ?? '')
  return sse ? sseTarget(address, { headers }) : urlTarget(address, { headers })
}

function readTargetHeader(text: string): readonly [string, string] {
  const found = /^(?<name>[\w!#$%&'*+.^`|~-]+):\s*(?<value>.*)$/.exec(text)?.groups
  if (found === undefined)
    throw new ReelayError('USAGE', 'a --header cannot be read', {
      hint: "write it as 'Name: value'; with ${env.NAME} the value is read from the environment",
    })
  return [(found['name'] ?? '').toLowerCase(), withEnvironment(found['value'] ?? '', process.env)]
}

function readTargetUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ReelayError('URL_INVALID', `${text} is no http or https URL`, {
    hint: 'write it like https://host/mcp',
  })
}

function targetUsageError(both: boolean): ReelayError {
  const problem = both
    ? 'both a command and a --url were given'
    : 'there is no server to replay the tape against'
  const hint = 'give its command after --, as in `reelay replay <tape> -- node server.js`, or its --url'
  return new ReelayError('USAGE', problem, { hint })
}
