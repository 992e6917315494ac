import { SessionPlayer } from '../serve/player/session-player.ts'
import { sessionPlayerOptions } from '../serve/serve-options.ts'
import { openTape, loadTape } from '../store/file/read.ts'
import { member, parseJson } from '../json/parse.ts'

/** What a tape answers when its own client messages are sent to it. */
export interface SelfReplayResult {
  readonly servers: readonly string[]
  readonly answered: number
  readonly misses: number
  /** Everything the recorded servers sent, server by server. Misses are counted, not listed. */
  readonly serverMessages: readonly string[]
}

/** Serves a tape, or the part of some servers, to its own recorded client: sends each client message again, in order. */
export async function selfReplay(path: string, only?: readonly string[]): Promise<SelfReplayResult> {
  const tape = await loadTape(path)
  const servers = only ?? Object.keys(tape.header.servers)
  const serverMessages: string[] = []
  const totals = { answered: 0, misses: 0 }
  for (const server of servers) {
    const player = new SessionPlayer({
      ...sessionPlayerOptions({ tape, server }, () => ''),
      send: (text) => void (isMissResponse(text) || serverMessages.push(text)),
    })
    player.start()
    for (const text of await clientMessagesTo(path, server)) player.handleText(text)
    const { answered, misses } = player.drift()
    totals.answered += answered
    totals.misses += misses.length
  }
  return { servers, ...totals, serverMessages }
}

/** Recognises a miss, whose text names the served file and therefore differs between a tape and its copy. */
function isMissResponse(text: string): boolean {
  return member(member(member(parseJson(text), 'error'), 'data'), 'kind') === 'replay_miss'
}

async function clientMessagesTo(path: string, server: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const frame of (await openTape(path)).frames())
    if (frame.kind === 'message' && frame.dir === 'c2s' && frame.server === server) texts.push(frame.text)
  return texts
}
