import type { OpenLink } from '../link/client-link.ts'
import type { LiveSecrets } from './session/live-secrets.ts'

/** A link behind which the real secrets are, and before which only their stand-ins. */
export function withLiveSecrets(open: OpenLink, { reveal, hide }: LiveSecrets): OpenLink {
  return async ({ onText, onLost, onEnd, ...handlers }) => {
    const link = await open({
      ...handlers,
      onText: (text) => onText(hide(text)),
      onLost: (key, why, status) => onLost(key, hide(why), status),
      onEnd: (why) => onEnd(hide(why)),
    })
    return {
      send: (text) => link.send(reveal(text)),
      abort: (key) => link.abort?.(key) ?? false,
      close: (how) => link.close(how),
    }
  }
}
