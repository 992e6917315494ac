import { member } from '../../json/parse.ts'
import type { Turn } from '../../tape/turns.ts'

/** Methods that change the state of a task, or return its result. */
export const TASK_CHANGE_METHODS: readonly string[] = ['tasks/cancel', 'tasks/update', 'tasks/result']
const FINAL_STATES: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/**
 * The states of tasks, for a client that may poll more or less often than the recorded one. It gets the recorded states in order
 * and then the last one again. It gets no state from after a change that it has not made yet, and none from before a change that
 * it has made, unless the task was already over.
 */
export class TaskStates {
  readonly #turnsOf: (method: string) => readonly Turn[]
  /** Frame numbers of the changes that the live client has made. */
  readonly #changed = new Set<number>()
  /** The frame number of the last state that was given, by task. */
  readonly #given = new Map<unknown, number>()

  constructor(turnsOf: (method: string) => readonly Turn[]) {
    this.#turnsOf = turnsOf
  }

  /** The live client has made the change of this turn. */
  markChanged(turn: Turn): void {
    this.#changed.add(frameOf(turn))
  }

  /** Returns the turn that answers a poll of the same task as this recorded one, if the tape has a valid state. */
  nextState(poll: Turn): Turn | undefined {
    const task = taskOf(poll)
    const { since, before } = this.#windowOf(task)
    const reached = this.#turnsOf('tasks/get').filter(
      (turn) => taskOf(turn) === task && turn.response !== undefined && frameOf(turn) < before,
    )
    const current = reached.filter((turn) => frameOf(turn) > since)
    const given = this.#given.get(task) ?? 0
    const fresh = current.find((turn) => frameOf(turn) > given)
    const last = current.at(-1) ?? reached.findLast(isFinal)
    const chosen = fresh ?? last
    if (chosen !== undefined) this.#given.set(task, Math.max(given, frameOf(chosen)))
    return fresh ?? (last && responseOnly(last))
  }

  /** Returns the first recorded change of a task that the live client has not made yet. */
  pendingChange(poll: Turn): Turn | undefined {
    return this.#changesOf(taskOf(poll)).find((turn) => !this.#changed.has(frameOf(turn)))
  }

  #windowOf(task: unknown): { readonly since: number; readonly before: number } {
    const changes = this.#changesOf(task)
    const isMade = (turn: Turn): boolean => this.#changed.has(frameOf(turn))
    return {
      since: Math.max(0, ...changes.filter(isMade).map(effectFrameOf)),
      before: Math.min(Infinity, ...changes.filter((turn) => !isMade(turn)).map(effectFrameOf)),
    }
  }

  #changesOf(task: unknown): readonly Turn[] {
    return TASK_CHANGE_METHODS.flatMap((method) => this.#turnsOf(method)).filter(
      (turn) => taskOf(turn) === task,
    )
  }
}

function taskOf({ trigger }: Turn): unknown {
  return trigger?.message.kind === 'request' ? member(trigger.message.params, 'taskId') : undefined
}

function frameOf({ trigger }: Turn): number {
  return trigger?.n ?? 0
}

/** A change has its effect when it is requested, but `tasks/result` only when it is answered. */
function effectFrameOf({ trigger, response }: Turn): number {
  const isResult = trigger?.message.kind === 'request' && trigger.message.method === 'tasks/result'
  return isResult ? (response?.n ?? Infinity) : (trigger?.n ?? 0)
}

function isFinal({ response }: Turn): boolean {
  const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
  return FINAL_STATES.has(member(member(outcome, 'result'), 'status'))
}

/** Notifications beside a response are sent only once. */
function responseOnly(turn: Turn): Turn {
  return { ...turn, steps: turn.steps.filter(({ kind }) => kind === 'respond') }
}
