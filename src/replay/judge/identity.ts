import { isOpeningMethod } from '../../protocol/revisions/index.ts'
import { type IdentityChange, ServerIdentity } from '../server-identity.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import type { Turn } from '../../tape/turns.ts'
import { isAsRecorded, type Judge, type JudgedAnswer, methodOfTurn, resultOfResponse } from './judge.ts'

/** Reports changes of the server's identity: as notes, or in a strict run as errors of the next response. */
export class IdentityJudge implements Judge {
  readonly #identity: ServerIdentity
  readonly #changes: { readonly change: IdentityChange; turn: Turn | undefined }[] = []

  constructor({ isStrict, onNote }: { isStrict: boolean; onNote: (note: string) => void }) {
    this.#identity = new ServerIdentity((change) => {
      if (isStrict) this.#changes.push({ change, turn: undefined })
      else onNote(change.message)
    })
  }

  /** Compares the results of Reelay's own handshake and of the recorded one. */
  compareOpenings(recorded: unknown, live: unknown): void {
    this.#identity.compareOpenings(recorded, live)
  }

  judge(answer: JudgedAnswer): readonly StepFinding[] {
    const { turn, recorded, live } = answer
    if (!isAsRecorded(answer)) {
      const [then, now] = [resultOfResponse(recorded), resultOfResponse(live)]
      if (isOpeningMethod(methodOfTurn(turn))) this.#identity.compareOpenings(then, now)
      else this.#identity.compareResults(then, now)
    }
    return this.#changes.length === 0 ? NO_FINDINGS : this.#findingsOf(turn)
  }

  /** The changes that could not be reported with a response. */
  unreported(): readonly string[] {
    return this.#changes.filter(({ turn }) => turn === undefined).map(({ change }) => change.message)
  }

  /** A request that is sent again is judged again, and keeps the changes that were reported with it. */
  #findingsOf(turn: Turn): readonly StepFinding[] {
    for (const each of this.#changes) each.turn ??= turn
    return this.#changes.filter((each) => each.turn === turn).map(({ change }) => asFinding(change))
  }
}

function asFinding(change: IdentityChange): StepFinding {
  return { layer: 'values', level: 'error', ...change }
}
