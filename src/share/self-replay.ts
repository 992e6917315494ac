import { Player } from '../serve/player.ts'
import { playerOptions } from '../serve/serve-options.ts'
import { openTape, loadTape } from '../store/read.ts'
import { member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** What a tape answers to its own client. */
export interface SelfReplay {
  readonly servers: readonly string[]
  readonly answered: number
  readonly misses: number
  /** Everything that the recorded server said, server by server; misses are only counted. */
  readonly said: readonly string[]
}

/** Plays a tape, or what some servers said on it, to the client that is on it: each of its messages is sent again, in order. */
export async function selfReplay(path: string, only?: readonly string[]): Promise<SelfReplay> {
  const tape = await loadTape(path)
  const servers = only ?? Object.keys(tape.header.servers)
  const said: string[] = []
  const totals = { answered: 0, misses: 0 }
  for (const server of servers) {
    const player = new Player({
      ...playerOptions({ tape, server }, () => ''),
      send: (text) => void (isMiss(text) || said.push(text)),
    })
    player.start()
    for (const text of await saidTo(path, server)) player.receive(text)
    const { answered, misses } = player.drift()
    totals.answered += answered
    totals.misses += misses.length
  }
  return { servers, ...totals, said }
}

/** Its words tell of the file that was played, which is another one for a copy. */
function isMiss(text: string): boolean {
  return member(member(member(parseJson(text), 'error'), 'data'), 'kind') === 'replay_miss'
}

async function saidTo(path: string, server: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const frame of (await openTape(path)).frames())
    if (frame.kind === 'message' && frame.dir === 'c2s' && frame.server === server) texts.push(frame.text)
  return texts
}
