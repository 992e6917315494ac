import type { Turn } from '../../tape/turn.ts'
import { member } from '../../protocol/message.ts'

/** What changes the state of a task, or tells it for good. */
const CHANGE_METHODS: readonly string[] = ['tasks/cancel', 'tasks/update', 'tasks/result']
const FINAL_STATES: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/**
 * The states of tasks, as one client asks for them. It may ask more often than the recorded one did, or less: it gets the recorded
 * states in order and then the last one again; but none that came after a change which the live client has not made yet, and none
 * from before a change that it has made, unless the task was over by then.
 */
export class TaskStates {
  readonly #turnsOf: (method: string) => readonly Turn[]
  /** The frames of changes that were made. */
  readonly #made = new Set<number>()
  readonly #given = new Map<unknown, number>()

  constructor(turnsOf: (method: string) => readonly Turn[]) {
    this.#turnsOf = turnsOf
  }

  /** A turn has been played to its answer. */
  markAnswered(turn: Turn): void {
    if (CHANGE_METHODS.includes(methodOf(turn) ?? '')) this.#made.add(frameOf(turn))
  }

  /** What answers a poll of the task that this recorded one asked for; undefined when the tape does not tell its state by now. */
  nextState(poll: Turn): Turn | undefined {
    const task = taskOf(poll)
    const { since, before } = this.#windowOf(task)
    const polls = this.#turnsOf('tasks/get').filter(
      (turn) => taskOf(turn) === task && turn.response !== undefined,
    )
    const told = polls.filter((turn) => frameOf(turn) < before)
    const current = told.filter((turn) => frameOf(turn) > since)
    const given = this.#given.get(task) ?? 0
    const fresh = current.find((turn) => frameOf(turn) > given)
    const again = current.at(-1) ?? told.findLast(isFinal)
    const chosen = fresh ?? again
    if (chosen !== undefined) this.#given.set(task, Math.max(given, frameOf(chosen)))
    return fresh ?? (again && answerOnly(again))
  }

  /** The first recorded change of a task that was not made yet. */
  pendingChange(poll: Turn): Turn | undefined {
    return this.#changesOf(taskOf(poll)).find((turn) => !this.#made.has(frameOf(turn)))
  }

  #windowOf(task: unknown): { readonly since: number; readonly before: number } {
    const changes = this.#changesOf(task)
    const isMade = (turn: Turn): boolean => this.#made.has(frameOf(turn))
    return {
      since: Math.max(0, ...changes.filter(isMade).map(effectOf)),
      before: Math.min(Infinity, ...changes.filter((turn) => !isMade(turn)).map(effectOf)),
    }
  }

  #changesOf(task: unknown): readonly Turn[] {
    return CHANGE_METHODS.flatMap((method) => this.#turnsOf(method)).filter((turn) => taskOf(turn) === task)
  }
}

function methodOf({ trigger }: Turn): string | undefined {
  return trigger?.message.kind === 'request' ? trigger.message.method : undefined
}

function taskOf({ trigger }: Turn): unknown {
  return trigger?.message.kind === 'request' ? member(trigger.message.params, 'taskId') : undefined
}

function frameOf({ trigger }: Turn): number {
  return trigger?.n ?? 0
}

/** From when on a change shows: a result is waited for, everything else is done when it is asked for. */
function effectOf(turn: Turn): number {
  if (methodOf(turn) !== 'tasks/result') return frameOf(turn)
  return turn.response?.n ?? Infinity
}

function isFinal({ response }: Turn): boolean {
  const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
  return FINAL_STATES.has(member(member(outcome, 'result'), 'status'))
}

/** What was told beside an answer is told once. */
function answerOnly(turn: Turn): Turn {
  return { ...turn, steps: turn.steps.filter(({ kind }) => kind === 'respond') }
}
