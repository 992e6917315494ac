import { Passthrough, type PassthroughOptions } from './passthrough.ts'

/** Passes misses on to a server command, which is started with the first of them. */
export function passthroughTo(
  command: readonly [string, ...string[]],
  options: Pick<PassthroughOptions, 'onMessage'> = {},
): Passthrough {
  return new Passthrough({
    ...options,
    start: async (listener) => {
      const { startLiveProcess } = await import('./live-process.ts')
      return startLiveProcess(command, listener)
    },
  })
}
