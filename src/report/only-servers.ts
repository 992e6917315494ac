import type { Tape } from '../store/read.ts'
import { meantServers } from '../tape/server-filter.ts'
import type { Turn } from '../tape/turn.ts'
import { member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** The tape as if only these servers had been recorded. What belongs to no server, such as the end, stays. */
export function onlyServers(tape: Tape, filter: string): Tape {
  const meant = meantServers({ path: tape.path, names: Object.keys(tape.header.servers) }, filter)
  const isMeant = (name: string): boolean => meant.includes(name)
  const servers = Object.entries(tape.header.servers).filter(([name]) => isMeant(name))
  const isShown = (server: unknown): boolean => typeof server !== 'string' || isMeant(server)
  const turns = tape.turns.filter((turn) => isShown(serverOf(turn)))
  const strays = tape.strays.filter(({ server }) => isMeant(server))
  const rest = tape.rest.filter((frame) => isShown(serverIn(frame)))
  return {
    ...tape,
    header: { ...tape.header, servers: Object.fromEntries(servers) },
    turns,
    strays,
    rest,
    frames: new Set([...turns.flatMap(framesOf), ...strays.map(({ n }) => n), ...rest.map(({ n }) => n)])
      .size,
  }
}

function serverOf({ trigger, steps: [first] }: Turn): string | undefined {
  return (trigger ?? (first?.kind === 'ask' ? first.request : first?.message))?.server
}

function serverIn(frame: Tape['rest'][number]): unknown {
  return frame.kind === 'other' ? member(parseJson(frame.line), 'server') : frame.server
}

function framesOf({ trigger, steps }: Turn): readonly number[] {
  const said = steps.flatMap((step) => (step.kind === 'ask' ? [step.request, step.answer] : [step.message]))
  return [trigger, ...said].flatMap((spoken) => spoken?.n ?? [])
}
