import type { ReplayTarget } from '../../src/replay/options.ts'
import { liveServer } from './live-server.ts'

/** A live server within the test that says some words of its own before each answer to a call, which is always the same. */
export function saying(
  words: readonly object[],
  answer: { readonly result: unknown },
): { readonly target: ReplayTarget } {
  const { target } = liveServer(() => answer)
  return {
    target: {
      ...target,
      open: async (handlers) => {
        const link = await target.open(handlers)
        const say = (text: string): void => {
          if (text.includes('"tools/call"'))
            for (const word of words) handlers.onText(JSON.stringify({ jsonrpc: '2.0', ...word }))
          link.send(text)
        }
        return { ...link, send: say }
      },
    },
  }
}
