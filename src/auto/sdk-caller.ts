/**
 * Whether the callers of `spawn`, nearest first, are those of an SDK's stdio client transport that starts its server:
 * the nearest lies in the SDK's own file, or the `start` method is at work, which is all that a bundle keeps of it.
 */
export function isSdkSpawn(stack: string | undefined): boolean {
  const frames = (stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const callers = frames.filter((line) => !CROSS_SPAWN.test(line))
  const [caller = ''] = callers
  return SDK_FILE.test(caller) || callers.slice(0, NEAREST_CALLERS).some((line) => START.test(line))
}

/** Whether a client transport of an SDK is among the callers of `fetch`; programs like to put functions of their own between. */
export function isSdkFetch(stack: string | undefined): boolean {
  return SDK_CLIENT.test(stack ?? '')
}

/** The call stack below a function, whatever the program has done to the length of stacks. */
export function callerStack(callee: (...args: never[]) => unknown): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 10
  const trace: { stack?: string } = {}
  Error.captureStackTrace(trace, callee)
  Error.stackTraceLimit = stackTraceLimit
  return trace.stack
}

/** The promise around the call, and the helper that starts programs on Windows too. */
const NEAREST_CALLERS = 5
const CROSS_SPAWN = /[\\/]cross-spawn[\\/]/
const SDK_FILE =
  /[\\/]@modelcontextprotocol[\\/](sdk[\\/]dist[\\/](esm|cjs)[\\/]client|client[\\/]dist)[\\/]stdio\.[cm]?js\b/
const START = /^ {4}at _?StdioClientTransport\d*\.start\b/
const SDK_CLIENT =
  /[\\/]@modelcontextprotocol[\\/](sdk[\\/]dist[\\/](esm|cjs)[\\/]client|client[\\/]dist)[\\/]|\bSSEClientTransport\b/
