import type { Correlation } from '../correlate/binding.ts'
import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { Request } from '../wire/message.ts'
import { NOTHING_CARRIED, type Carrier } from './carrier.ts'
import type { Endings } from './endings.ts'
import type { Execution } from './execute.ts'
import { greetingNotes } from './greeting-notes.ts'
import { judgesFor, updatesFor } from './judges-for.ts'
import { turnsAt } from './landmarks.ts'
import { linkOf } from './link-of.ts'
import { Links } from './links.ts'
import { Notes } from './notes.ts'
import type { ServerPart } from './one-server.ts'
import { askForTools, envelopeOf } from './own-tools.ts'
import { endingsFor, performerFor } from './performer-for.ts'
import { planOf, type Candidate, type Fate, type Plan, type Planned } from './plan.ts'
import { TIMEOUT, type PrepareOptions } from './prepare-options.ts'
import { RecordedAnswers } from './recorded-answers.ts'
import { RoundInputs } from './round-inputs.ts'
import { heldBack, toolsIn, type Tools } from './safety.ts'
import { scheduled } from './schedule.ts'
import { Revisions } from './revisions.ts'
import { leftOut, type Selection } from './select.ts'
import { TapeCarrier } from './tape-carrier.ts'

/** What a run needs, with the link to the live server open. */
export interface Prepared extends Pick<Execution, 'order' | 'ready' | 'perform' | 'release'> {
  readonly plan: Plan
  readonly correlate: Correlation | false
  /** Undefined when nothing is compared. */
  readonly endings: Endings | undefined
  /** What would be sent now; undefined when a value that it needs is not known. */
  readonly preview: (planned: Planned) => string | undefined
  readonly notes: Iterable<string>
  readonly liveOf: Carrier['liveOf']
  close(): Promise<void>
}

/** Opens the conversation, and makes the plan of what is sent. */
export async function prepare(part: ServerPart, options: PrepareOptions): Promise<Prepared> {
  const notes = new Notes()
  const carried: { carrier: Carrier } = { carrier: NOTHING_CARRIED }
  const revisions = new Revisions(turnsAt(part.turns, part.landmarks.handshakes))
  const answers = answersFor(part, options, () => carried.carrier)
  const unknown = new WeakSet<Request>()
  const links = linksFor(part, options, { notes, revisions, answers, unknown })
  options.watch.connected(() => links.traffic())
  try {
    // The server starts while the tape is looked through.
    const [tools, correlate] = await Promise.all([toolsFor(part, options, links), options.bindings()])
    const plan = planFor(part.turns, options, tools)
    const carrier = carrierFor(plan, correlate)
    carried.carrier = carrier
    const judges = judgesFor(options, { carrier, tools, revisions, notes, plan, turns: part.turns, unknown })
    const judgeUpdates = updatesFor(plan, options, carrier)
    const rounds = roundsFor(plan.hasRounds ? part.turns : [], { answers, notes })
    const performer = performerFor({ options, links, carrier, rounds, judges, plan, judgeUpdates })
    const order = scheduled(plan, options.ordering ?? { kind: 'correlated' }, (index) =>
      carrier.producersOf(index),
    )
    return {
      plan,
      correlate,
      endings: endingsFor({ plan, options, links, judgeUpdates }),
      order,
      ready: (planned) => performer.ready(planned),
      perform: (planned, performance) => {
        options.watch.begun(planned.index)
        performer.perform(planned, performance)
      },
      release: () => performer.release(),
      preview: (planned) => performer.preview(planned),
      notes,
      liveOf: (binding) => carrier.liveOf(binding),
      close: () => links.close(),
    }
  } catch (error) {
    await links.close()
    throw error
  }
}

/** What would be sent, and what not and why: what `--dry-run` shows. Only the tape is looked at. */
export function planFor(
  turns: RecordedTurns,
  options: Partial<Selection> & Parameters<typeof heldBack>[1],
  tools: Tools,
): Plan {
  const selection = { ...options, handshake: options.handshake ?? 'own' }
  const fateOf = (planned: Candidate): Fate =>
    leftOut(planned, selection) ?? heldBack(planned, options, tools) ?? { kind: 'send' }
  return planOf({ turns, fateOf })
}

/** Most servers ask nothing: then the tape is not looked through for answers. */
function answersFor(
  { turns }: ServerPart,
  { onAsk = 'decline' }: PrepareOptions,
  carrier: () => Carrier,
): () => RecordedAnswers {
  let answers: RecordedAnswers | undefined
  return () => (answers ??= new RecordedAnswers(turns, { policy: onAsk, carrier }))
}

function linksFor(
  part: ServerPart,
  { target, handshake = 'own', timeout = TIMEOUT, now, signal, controller }: PrepareOptions,
  {
    notes,
    revisions,
    answers,
    unknown,
  }: { notes: Notes; revisions: Revisions; answers: () => RecordedAnswers; unknown: WeakSet<Request> },
): Links {
  const { turns, era, landmarks } = part
  return new Links({
    open: target.open,
    handshake,
    openings: turnsAt(turns, [...landmarks.handshakes, landmarks.firstEnveloped]),
    era: era.era ?? 'legacy',
    timeout,
    now,
    signal,
    stopped: controller.stopped,
    onGreeting: (greeting, link) => {
      notes.push(...greetingNotes(greeting, turnsAt(turns, landmarks.handshakes)))
      if (greeting.version !== undefined) revisions.agreed(link, greeting.version)
    },
    onOddity: (oddity) => notes.push(oddity),
    onAsk: async (request) => {
      const { outcome, report } = await answers().answer(request)
      if (report.by === 'own') {
        unknown.add(request)
        notes.push(`the server asked ${report.method}, which was not recorded: answered by policy`)
      }
      return outcome
    },
  })
}

/** What the live server says of its tools counts more than what the recorded one said. */
async function toolsFor(
  part: ServerPart,
  { handshake = 'own', timeout = TIMEOUT }: PrepareOptions,
  links: Links,
): Promise<Tools> {
  const [call] = turnsAt(part.turns, [part.landmarks.firstCall])
  if (call?.trigger === undefined || handshake !== 'own') return toolsIn(part)
  const params = 'params' in call.trigger.message ? call.trigger.message.params : undefined
  const [first] = turnsAt(part.turns, [part.landmarks.first])
  const session = await links.sessionOf(first === undefined ? '0' : linkOf(first))
  const live = await askForTools(session, { envelope: envelopeOf(params), timeout })
  return live.size === 0 ? toolsIn(part) : live
}

/** What carries live values forward, as far as the user wants it. */
export function carrierFor(plan: Plan, correlate: Correlation | false): Carrier {
  if (correlate === false || correlate.bindings.length + correlate.guesses.length === 0)
    return NOTHING_CARRIED
  return new TapeCarrier(correlate, { plan, now: () => Date.now() })
}

function roundsFor(
  turns: Iterable<Turn>,
  { answers, notes }: { answers: () => RecordedAnswers; notes: Notes },
): RoundInputs {
  return new RoundInputs(turns, {
    ask: async (request) => (await answers().answer(request)).outcome,
    onNote: (note) => notes.push(note),
  })
}
