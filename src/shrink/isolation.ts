import { distinctnessOf } from '../bindings/values.ts'
import { decodeLeaf, jsonLeaves } from '../json/find-replace.ts'
import type { Failure, ObservedCall, Watch } from './watch.ts'

/** Words that stand before the texts that a session sends, so that it is known whose they are. They occur nowhere by chance. */
export const SESSION_MARKS: readonly string[] = ['k7qx2mfirst', 'w4zj9ksecond']

const MARKED_TEXT = new RegExp(`^(?:${SESSION_MARKS.join('|')}) (.{12,})$`, 'su')

/** What the server sent to one session in one call. */
interface ReceivedTexts {
  readonly link: string
  readonly call: ObservedCall
  readonly values: ReadonlySet<string>
}

/**
 * Finds values of one session in what the server sends to another. A value belongs to a session if its client came up with it, or if the
 * server sent it to this session where another session got something else in response to the same call. A session may see the
 * values of another one that its own client has sent before.
 */
export class IsolationWatch implements Watch {
  readonly #sent = new Map<string, Set<string>>()
  /** Where each value was seen first. */
  readonly #origins = new Map<string, { readonly link: string; readonly isSent: boolean }>()
  readonly #received: ReceivedTexts[] = []
  /** What each session got in response to the same call, such as its second call of a tool. */
  readonly #answers = new Map<string, Map<string, ReadonlySet<string>>>()
  readonly #counts = new Map<string, number>()
  /** Values that the server generated for one session. */
  readonly #generated = new Set<string>()
  readonly #reported = new Set<ReceivedTexts>()
  /** Texts that clients send only with a mark. */
  readonly #marked = new Set<string>()

  failureOf(call: ObservedCall): Failure | undefined {
    const { link, request, response = '', notifications = '' } = call
    const sent = this.#sent.get(link) ?? new Set()
    this.#sent.set(link, sent)
    for (const value of distinctValues(request, ['params'])) {
      sent.add(value)
      if (!this.#origins.has(value)) this.#origins.set(value, { link, isSent: true })
    }
    for (const text of textsIn(request)) {
      const base = MARKED_TEXT.exec(text)?.[1]
      if (base !== undefined) this.#marked.add(base)
    }
    const values = new Set([...distinctValues(response, []), ...distinctValues(notifications, [])])
    for (const value of values)
      if (!this.#origins.has(value)) this.#origins.set(value, { link, isSent: false })
    // What this client knew when it got the response does not count.
    const received = { link, call, values: new Set([...values].filter((value) => !sent.has(value))) }
    this.#received.push(received)
    const old = textsIn(response).flatMap((text) => unmarkedPart(text, this.#marked) ?? [])[0]
    if (old !== undefined)
      return {
        call: call.name,
        signature: 'isolation',
        summary: `the response contains ${JSON.stringify(old)}, which an earlier session has sent`,
      }
    this.#compareAnswers(call, values)
    return this.#firstLeak()
  }

  /** Values that differ where both sessions made the same call were generated for one of them. */
  #compareAnswers({ link, name }: ObservedCall, values: ReadonlySet<string>): void {
    const nth = (this.#counts.get(`${link} ${name}`) ?? 0) + 1
    this.#counts.set(`${link} ${name}`, nth)
    const key = `${name} ${nth}`
    const answers = this.#answers.get(key) ?? new Map<string, ReadonlySet<string>>()
    this.#answers.set(key, answers)
    if (!answers.has(link)) answers.set(link, values)
    for (const [owner, own] of answers)
      for (const [other, others] of answers)
        if (owner !== other)
          for (const value of own) if (!others.has(value) && !isTime(value)) this.#generated.add(value)
  }

  #firstLeak(): Failure | undefined {
    for (const received of this.#received) {
      if (this.#reported.has(received)) continue
      for (const value of received.values) {
        const owner = this.#ownerOf(value)
        if (owner === undefined || owner === received.link) continue
        this.#reported.add(received)
        return {
          call: received.call.name,
          signature: 'isolation',
          summary: `the response contains ${JSON.stringify(value)}, which belongs to another session`,
        }
      }
    }
    return undefined
  }

  /** The session whose client came up with this value, or for which the server generated it. */
  #ownerOf(value: string): string | undefined {
    const origin = this.#origins.get(value)
    return origin?.isSent === true || this.#generated.has(value) ? origin?.link : undefined
  }
}

/** Returns a text that stands here without its mark; this session has only sent it with one. */
function unmarkedPart(text: string, marked: ReadonlySet<string>): string | undefined {
  for (const base of marked) {
    const at = text.indexOf(base)
    if (at >= 0 && !SESSION_MARKS.some((mark) => text.slice(0, at).endsWith(`${mark} `))) return base
  }
  return undefined
}

function textsIn(message: string): readonly string[] {
  if (message === '') return []
  return jsonLeaves(message).flatMap((leaf) =>
    message[leaf.start] === '"' ? [decodeLeaf(message, leaf)] : [],
  )
}

/** The values in a message that are unlikely to be equal by chance: ids, tokens, long numbers. */
function distinctValues(text: string, under: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  if (text === '') return found
  for (const leaf of jsonLeaves(text)) {
    if (!under.every((name, at) => leaf.path[at] === name) || leaf.path.includes('_meta')) continue
    const value = decodeLeaf(text, leaf)
    for (const [word] of value.matchAll(WORDS)) {
      if (isDistinct(word)) found.add(word)
      for (const part of word.split(/[-_.:]/)) if (part !== word && isDistinct(part)) found.add(part)
    }
  }
  return found
}

/** Runs of letters and digits, and those that are joined as in most ids. */
const WORDS = /[\p{L}\p{N}]+(?:[-_.:][\p{L}\p{N}]+)*/gu

function isDistinct(word: string): boolean {
  return (
    word.length >= SHORTEST_VALUE && /\d/.test(word) && distinctnessOf(word) === 'strong' && !isTime(word)
  )
}

const SHORTEST_VALUE = 6

/** Times of two sessions differ, and are nobody's. */
function isTime(value: string): boolean {
  return (
    /^1[5-9]\d{8}(?:\d{3}){0,3}$/.test(value) ||
    /^\d{1,9}(?:Z|ms|us|ns|s)$/i.test(value) ||
    /^(?:19|20)\d{6}(?:T\d+Z?)?$/.test(value)
  )
}
