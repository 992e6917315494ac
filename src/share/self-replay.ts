import { SessionPlayer } from '../serve/player/session-player.ts'
import { sessionPlayerOptions } from '../serve/serve-options.ts'
import { openTape, loadTape } from '../store/file/read.ts'
import { member } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/** What a tape answers to its own client. */
export interface SelfReplayResult {
  readonly servers: readonly string[]
  readonly answered: number
  readonly misses: number
  /** Everything that the recorded server said, server by server; misses are only counted. */
  readonly serverMessages: readonly string[]
}

/** Plays a tape, or what some servers said on it, to the client that is on it: each of its messages is sent again, in order. */
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

/** Its words tell of the file that was played, which is another one for a copy. */
function isMissResponse(text: string): boolean {
  return member(member(member(parseJson(text), 'error'), 'data'), 'kind') === 'replay_miss'
}

async function clientMessagesTo(path: string, server: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const frame of (await openTape(path)).frames())
    if (frame.kind === 'message' && frame.dir === 'c2s' && frame.server === server) texts.push(frame.text)
  return texts
}
