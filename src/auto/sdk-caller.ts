/**
 * Whether the callers of `spawn`, nearest first, are those of an SDK's stdio client transport that starts its server:
 * the nearest lies in the SDK's own file, or the `start` method is at work, which is all that a bundle keeps of it.
 */
export function isStartOfSdk(stack: string | undefined): boolean {
  const frames = (stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const callers = frames.filter((line) => !CROSS_SPAWN.test(line))
  const [caller = ''] = callers
  return SDK_FILE.test(caller) || callers.slice(0, NEAR).some((line) => START.test(line))
}

/** The promise around the call, and the helper that starts programs on Windows too. */
const NEAR = 5
const CROSS_SPAWN = /[\\/]cross-spawn[\\/]/
const SDK_FILE =
  /[\\/]@modelcontextprotocol[\\/](sdk[\\/]dist[\\/](esm|cjs)[\\/]client|client[\\/]dist)[\\/]stdio\.[cm]?js\b/
const START = /^ {4}at _?StdioClientTransport\d*\.start\b/
