import { liveRedaction } from '../serve/live-redaction.ts'
import { linkTo, type LiveTarget } from '../serve/live-target.ts'
import { Passthrough } from '../serve/passthrough.ts'
import { storeOf, type PlayedTape } from '../serve/played-tape.ts'
import { appendEpisode, hasAnswered, type EpisodeMessage } from '../store/episode.ts'
import type { LivePlan } from './live-plan.ts'
import { say, warn } from './serve-talk.ts'

/** The live server behind a tape, and what was learned from it. */
export interface LiveBehind {
  /** The live server of one more client. */
  readonly elsewhere: () => Passthrough
  /** Adds what was learned to the tape, and says so. */
  readonly learn: (path: string, server: string) => Promise<void>
}

export function liveBehind(plan: LivePlan, tape: PlayedTape): LiveBehind | undefined {
  if (plan.kind !== 'passthrough') return undefined
  const { target, learns } = plan
  warn('what is not on the tape goes to the live server')
  const open = linkTo(target, storeOf(tape.turns))
  const links: EpisodeMessage[][] = []
  return {
    elsewhere: () => new Passthrough({ open, ...(learns && { onMessage: noteIn(links) }) }),
    learn: (path, server) => learn(path, { server, links, target }),
  }
}

/** What crosses one more link, kept until the run is over: until then the tape is being played. */
function noteIn(links: EpisodeMessage[][]): (dir: EpisodeMessage['dir'], text: string) => void {
  const messages: EpisodeMessage[] = []
  links.push(messages)
  return (dir, text) => void messages.push({ dir, text, at: Date.now() })
}

interface Learned {
  readonly server: string
  readonly links: readonly (readonly EpisodeMessage[])[]
  readonly target: LiveTarget
}

async function learn(path: string, { server, links: all, target }: Learned): Promise<void> {
  const links = all.filter(hasAnswered)
  if (links.length === 0) return
  const headers = target.kind === 'url' ? target.headers : {}
  await appendEpisode(path, { server, links, redaction: (header) => liveRedaction(header, { headers }) })
  const count = links.reduce((sum, messages) => sum + messages.length, 0)
  const of = links.length === 1 ? '' : `, from ${links.length} clients`
  say(`reelay serve: the tape has a new episode of ${count} ${count === 1 ? 'message' : 'messages'}${of}`)
}
