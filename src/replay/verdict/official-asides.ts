import type { ErrorObject } from 'ajv'
import type { Turn } from '../../tape/turn.ts'
import type { Notification, Request } from '../../wire/message.ts'
import type { Finding } from './finding.ts'
import type { Judged } from './judged.ts'
import type { OfficialOptions } from './official.ts'
import type { OfficialValidators } from './official-validators.ts'
import { kindOfError, pathOf } from './schema-errors.ts'
import { wordsOfServer } from './words-of-server.ts'

/** Whether notifications and requests on the way to an answer keep to the official schema. What was broken when it was recorded, wherever on the tape, is a note, and told once. */
export class OfficialAsides {
  readonly #options: OfficialOptions
  readonly #validators: OfficialValidators
  readonly #told = new Set<string>()
  #recorded: ReadonlySet<string> | undefined

  constructor(options: OfficialOptions, validators: OfficialValidators) {
    this.#options = options
    this.#validators = validators
  }

  judge({ turn, asides }: Judged): readonly Finding[] {
    if (this.#options.use === 'off' || asides.length === 0) return []
    const revision = this.#options.revisions.live(turn)
    const broken = new Map<string, Broken>()
    for (const { message } of asides)
      for (const error of this.#validators.errorsInWord(message, revision))
        broken.set(inWords(message, error), { word: message, error })
    const found = [...broken].filter(([, one]) => this.#options.use === 'always' || this.#isNew(one))
    return found.slice(0, MOST).map(([words]) => asFinding(words, revision))
  }

  #isNew({ word, error }: Broken): boolean {
    this.#recorded ??= new Set(this.#brokenThen())
    if (!this.#recorded.has(keyOf(word, error))) return true
    this.#tell(word.method, inWords(word, error))
    return false
  }

  *#brokenThen(): Iterable<string> {
    for (const turn of this.#options.turns)
      for (const word of turn.steps.flatMap(wordsOfServer))
        for (const error of this.#errorsThen(word, turn)) yield keyOf(word, error)
  }

  #errorsThen(word: Request | Notification, turn: Turn): readonly ErrorObject[] {
    return this.#validators.errorsInWord(word, this.#options.revisions.recorded(turn))
  }

  #tell(method: string, words: string): void {
    if (this.#told.has(method)) return
    this.#told.add(method)
    this.#options.onNote(`${words}, as it was when it was recorded (official schema)`)
  }
}

interface Broken {
  readonly word: Request | Notification
  readonly error: ErrorObject
}

/** Of a server that is wrong all over, the first errors tell enough. */
const MOST = 10

function keyOf({ method }: Request | Notification, error: ErrorObject): string {
  return `${method} ${kindOfError(error)}`
}

function inWords({ method }: Request | Notification, error: ErrorObject): string {
  return `${method} of the server: ${pathOf([], error)} ${error.message}`
}

function asFinding(words: string, revision: string | undefined): Finding {
  return {
    layer: 'schema',
    source: 'official',
    level: 'error',
    message: `${words} (official schema of ${revision})`,
  }
}
