import { turnLabel } from '../../tape/turns.ts'
import type { Binding, BindingProducer, FoundBindings } from '../../bindings/binding.ts'
import type { PlannedMessage, ReplayPlan } from '../plan/plan.ts'

/** Bindings without those whose values cannot come, and a note about these. */
interface SelectedBindings {
  readonly bindings: FoundBindings | false
  readonly notes: readonly string[]
}

/**
 * Drops the bindings whose values come only from messages that the user left out, for example with `--include`. These values are
 * sent as recorded: many are constants, such as the uris of resources, and the user has chosen not to ask for new ones.
 */
export function dropLeftOutProducers(found: FoundBindings | false, plan: ReplayPlan): SelectedBindings {
  if (found === false || found.bindings.length === 0) return { bindings: found, notes: [] }
  const messages = found.bindings.flatMap(turnsOf)
  const indexes = plan.indexesOf(new Set(messages))
  const decisionAt = (turn: number): string | undefined => {
    const index = indexes.get(turn)
    return index === undefined ? undefined : plan.decisionOf(index).kind
  }
  const isLeftOut = ({ producer, also }: Binding): boolean =>
    [producer, ...also].every((each) => each.kind === 'message' && decisionAt(each.turn) === 'skip')
  const dropped = found.bindings.filter(isLeftOut)
  if (dropped.length === 0) return { bindings: found, notes: [] }
  const isSent = ({ consumers }: Binding): boolean =>
    consumers.some(({ turn }) => decisionAt(turn) === 'send')
  const kept = found.bindings.filter((binding) => !dropped.includes(binding))
  return {
    bindings: { ...found, bindings: kept },
    notes: leftOutNotes(dropped.filter(isSent), (turn) => plan.at(indexes.get(turn) ?? 0)),
  }
}

function turnsOf({ producer, also, consumers }: Binding): readonly number[] {
  return [...[producer, ...also].flatMap(producerTurn), ...consumers.map(({ turn }) => turn)]
}

function producerTurn(producer: BindingProducer): readonly number[] {
  return producer.kind === 'message' ? [producer.turn] : []
}

function leftOutNotes(
  sent: readonly Binding[],
  messageOf: (turn: number) => PlannedMessage,
): readonly string[] {
  if (sent.length === 0) return []
  const sources = new Map<number, string>()
  for (const { producer } of sent) {
    if (producer.kind !== 'message' || sources.size === MAX_SOURCES) continue
    const { turn, message } = messageOf(producer.turn)
    sources.set(producer.turn, `${turnLabel(turn)} ${message.method}`)
  }
  const [value, come] =
    sent.length === 1 ? ['1 value is', 'it comes'] : [`${sent.length} values are`, 'they come']
  return [
    `${value} sent as recorded, because the messages that ${come} from were left out (${[...sources.values()].join(', ')}); send these too to use live values`,
  ]
}

/** A few sources are enough to see what was left out. */
const MAX_SOURCES = 3
