import type { ErrorObject } from 'ajv'
import type { Turn } from '../../tape/turn.ts'
import { member, type Response } from '../../wire/message.ts'
import { linkOf } from '../link-of.ts'
import type { Revisions } from '../revisions.ts'
import { NOTHING_FOUND, type Finding } from './finding.ts'
import { resultIn, type Judged } from './judged.ts'
import { OfficialAsides } from './official-asides.ts'
import { OfficialValidators } from './official-validators.ts'
import { kindOfError, pathOf } from './schema-errors.ts'

/** Whether an answer that breaks the official schema is found only where the recorded one did not, always, or never. */
export type OfficialSchemaUse = 'changed' | 'always' | 'off'

export interface OfficialOptions {
  readonly use: OfficialSchemaUse
  readonly revisions: Revisions
  /** The whole recording. */
  readonly turns: Iterable<Turn>
  readonly onNote: (note: string) => void
}

/** Whether answers keep to the official schema of their revision. What was broken when it was recorded is a note, and told once. */
export class OfficialJudge {
  readonly #options: OfficialOptions
  readonly #validators: OfficialValidators
  readonly #asides: OfficialAsides
  /** By method, the tools of which an answer was looked at. */
  readonly #looked = new Map<string, Set<string | undefined>>()
  readonly #told = new Set<string>()

  constructor(options: OfficialOptions) {
    this.#options = options
    this.#validators = new OfficialValidators((revision) => options.onNote(absent(revision)))
    this.#asides = new OfficialAsides(options, this.#validators)
  }

  judge(judged: Judged): readonly Finding[] {
    const { use, revisions } = this.#options
    const { turn, live, end } = judged
    if (use === 'off' || live === undefined) return NOTHING_FOUND
    this.#noteRevision(judged)
    // The recorded bytes can only be broken as they were: to tell of that, one look at each tool is enough.
    if (use === 'changed' && end.kind === 'answered' && end.asRecorded && this.#hasLooked(judged))
      return NOTHING_FOUND
    const revision = revisions.live(turn)
    const broken = this.#validators.errorsIn(live, asked(turn, revision))
    const found = broken.length === 0 || use === 'always' ? broken : this.#broughtIn(judged, broken)
    return found.slice(0, MOST).map((error) => asFinding(error, live, revision))
  }

  /** Of what the server said on the way to the answer. */
  judgeAsides(judged: Judged): readonly Finding[] {
    return this.#asides.judge(judged)
  }

  #noteRevision({ turn, live }: Judged): void {
    if (methodOf(turn) !== 'initialize') return
    const revision = member(resultIn(live), 'protocolVersion')
    if (typeof revision === 'string') this.#options.revisions.agreed(linkOf(turn), revision)
  }

  #hasLooked(judged: Judged): boolean {
    const method = methodOf(judged.turn)
    const tools = this.#looked.get(method) ?? new Set()
    if (tools.has(judged.tool)) return true
    this.#looked.set(method, tools.add(judged.tool))
    return false
  }

  /** What is broken now and was not then; what was, is told. */
  #broughtIn(judged: Judged, broken: readonly ErrorObject[]): readonly ErrorObject[] {
    const { turn, recorded } = judged
    const revision = this.#options.revisions.recorded(turn)
    const before = recorded === undefined ? [] : this.#validators.errorsIn(recorded, asked(turn, revision))
    const known = new Set(before.map(kindOfError))
    const old = broken.find((error) => known.has(kindOfError(error)))
    if (old !== undefined) this.#tell(judged, old)
    return broken.filter((error) => !known.has(kindOfError(error)))
  }

  #tell(judged: Judged, error: ErrorObject): void {
    const name = nameOf(judged)
    if (this.#told.has(name)) return
    this.#told.add(name)
    const revision = this.#options.revisions.live(judged.turn)
    this.#options.onNote(
      `${name} breaks the official schema of ${revision}, as it did when it was recorded: ${placeOf(error, judged.live)} ${error.message}`,
    )
  }
}

/** Of an answer that is wrong all over, the first errors tell enough. */
const MOST = 10

function absent(revision: string): string {
  return `the official schema of ${revision} does not come with this build of Reelay: no answer is held against it`
}

function asked(turn: Turn, revision: string | undefined): { method: string; revision: string | undefined } {
  return { method: methodOf(turn), revision }
}

function methodOf({ trigger }: Turn): string {
  return trigger !== undefined && 'method' in trigger.message ? trigger.message.method : 'undefined'
}

function nameOf({ turn, tool }: Judged): string {
  return tool === undefined ? methodOf(turn) : `${methodOf(turn)} ${tool}`
}

function asFinding(error: ErrorObject, answer: Response, revision: string | undefined): Finding {
  const message = `${error.message} (official schema of ${revision})`
  return { layer: 'schema', source: 'official', level: 'error', message, path: placeOf(error, answer) }
}

function placeOf(error: ErrorObject, answer: Response | undefined): string {
  return pathOf(answer !== undefined && 'result' in answer.outcome ? ['result'] : [], error)
}
