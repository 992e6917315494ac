import { SessionPlayer, type SessionPlayerOptions } from '../../src/serve/player/session-player.ts'
import { type RecordedServerOptions, RecordedServer } from '../../src/serve/player/recorded-server.ts'
import { tapeOf, type Said } from './tape-of.ts'

/** A player and what it said. */
export interface Run {
  readonly player: SessionPlayer
  /** What was sent, as it was. */
  readonly out: readonly string[]
  /** What was sent, in a few words. */
  heard(): readonly string[]
  say(...messages: readonly object[]): void
  sayText(text: string): void
}

export function playing(...said: readonly Said[]): Run {
  return playingWith({}, ...said)
}

export function playingWith(
  options: Partial<SessionPlayerOptions & RecordedServerOptions>,
  ...said: readonly Said[]
): Run {
  const out: string[] = []
  const { turns } = tapeOf(...said)
  const player = new SessionPlayer({
    recordedServer: new RecordedServer({
      turns,
      server: 'demo',
      tape: 'made-up.tape.jsonl',
      commandFor,
      ...options,
    }),
    send: (text) => out.push(text),
    ...options,
  })
  player.start()
  return {
    player,
    out,
    heard: () => out.map(inWords),
    say: (...messages) =>
      messages.forEach((message) => player.handleText(JSON.stringify({ jsonrpc: '2.0', ...message }))),
    sayText: (text) => player.handleText(text),
  }
}

function commandFor(): string {
  return 'the command'
}

function inWords(text: string): string {
  const { id, method, params, result } = JSON.parse(text)
  const told = params === undefined ? '' : ` ${JSON.stringify(params)}`
  if (method === undefined) return `answer ${JSON.stringify(id)}: ${result?.content?.[0]?.text}`
  return id === undefined ? `${method}${told}` : `request ${JSON.stringify(id)}: ${method}${told}`
}
