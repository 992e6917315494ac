import type { ReplayController } from '../controller.ts'
import type { ReplayOptions } from '../options.ts'
import type { PlannedMessage, ReplayPlan } from '../plan/plan.ts'
import { type LiveNotifications, RESOURCE_UPDATED, SERVER_GRACE } from '../session/live-notifications.ts'
import type { Peer } from '../session/peer.ts'
import { hasFailed, type ReplayStep, NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import type { CarriedValues } from '../values/carried-values.ts'
import { type JudgeOptions, createRuleDiffer, EXACT_RULE } from './comparison-rules.ts'
import type { Difference } from '../../diff/difference.ts'
import { separateNoise } from '../../diff/noise/index.ts'
import type { IsLiveValue } from '../../diff/noise/noise-kind.ts'
import { differenceFinding } from './values.ts'
import type { TrailingNotifications } from '../plan/plan-columns.ts'

interface UnsolicitedMessagesContext {
  readonly options: JudgeOptions &
    Pick<ReplayOptions, 'onError' | 'signal'> & { readonly controller: ReplayController }
  readonly plan: ReplayPlan
  readonly peer: Peer
  readonly values: CarriedValues
}

/** Checks the messages that the server sends on its own: those before a message of the client, and those after the last one. */
export class UnsolicitedMessages {
  readonly #options: UnsolicitedMessagesContext['options']
  readonly #peer: Peer
  readonly #updates: ResourceUpdatesJudge
  /** The notifications that the recorded server sent after the last message of each link, by the index of that message. */
  readonly #expectedAfter: ReadonlyMap<number, TrailingNotifications>
  readonly #deferred: ReplayStep[] = []

  constructor({ options, plan, peer, values }: UnsolicitedMessagesContext) {
    this.#options = options
    this.#peer = peer
    this.#updates = new ResourceUpdatesJudge({
      judging: options,
      isLiveValue: values.explains,
      recordedOn: (link) => plan.resourceUpdatesOn(link),
      grace: SERVER_GRACE,
    })
    this.#expectedAfter = options.validate === false ? new Map() : plan.trailingNotifications()
  }

  /** Waits for the messages that the server had sent before this one when it was recorded. */
  async waitBefore({ link, receivedBefore: wanted }: PlannedMessage): Promise<readonly StepFinding[]> {
    if (wanted.size === 0) return NO_FINDINGS
    const { notifications } = await this.#peer.sessionOf(link)
    const missing = (await notifications.waitForCounts(wanted, SERVER_GRACE)).map(missingBefore)
    const updates = await this.#updates.judge({ link, wanted, now: notifications })
    return [...missing, ...updates]
  }

  /** Returns true if the step is kept back: the last step of a link is reported after the notifications that followed it. */
  defer(step: ReplayStep): boolean {
    if (!this.#expectedAfter.has(step.index) || !wasSent(step)) return false
    if (this.#options.onError === 'pause' && hasFailed(step)) return false // the user looks at it before the run continues
    this.#deferred.push(step)
    return true
  }

  /** Returns the deferred steps, with findings about notifications that did not come. */
  finish(): Promise<readonly ReplayStep[]> {
    return Promise.all(this.#deferred.splice(0).map((step) => this.#settle(step)))
  }

  async #settle(step: ReplayStep): Promise<ReplayStep> {
    const expected = this.#expectedAfter.get(step.index)
    const session = expected && this.#peer.openSessionOf(expected.link)
    if (expected === undefined || session === undefined || this.#isStopped) return step
    const found = await this.#missingAfter(expected, session.notifications)
    if (found.length === 0 || this.#isStopped) return step
    return { ...step, findings: [...step.findings, ...found] }
  }

  async #missingAfter(
    { link, counts: wanted }: TrailingNotifications,
    now: LiveNotifications,
  ): Promise<readonly StepFinding[]> {
    const level = this.#options.strict === true ? 'error' : 'warn'
    const missing = (await now.waitForCounts(wanted, SERVER_GRACE)).map((method) =>
      missingAfter(method, level),
    )
    return [...missing, ...(await this.#updates.judge({ link, wanted, now }))]
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true || this.#options.controller.status === 'stopped'
  }
}

function wasSent({ sentAt, isInjected }: ReplayStep): boolean {
  return sentAt !== undefined && isInjected !== true
}

function missingBefore(method: string): StepFinding {
  const isRequest = !method.startsWith('notifications/')
  const message = `${isRequest ? 'the request ' : ''}${method} of the server no longer comes before this`
  return { layer: 'order', level: isRequest ? 'error' : 'warn', message }
}

function missingAfter(method: string, level: StepFinding['level']): StepFinding {
  return { layer: 'order', level, message: `${method} of the server no longer comes after this` }
}

interface ResourceUpdatesJudgeOptions {
  readonly judging: JudgeOptions
  readonly isLiveValue: IsLiveValue
  /** The resources that the recorded server reported as updated on a link, in tape order. */
  readonly recordedOn: (link: string) => readonly string[]
  /** Milliseconds that the server may be late. */
  readonly grace: number
}

/** The recorded counts on a link at some point of the tape, and the live notifications. */
interface UpdatesToJudge {
  readonly link: string
  readonly wanted: ReadonlyMap<string, number>
  readonly now: LiveNotifications
}

/**
 * Compares the resources that the server reports as updated. A resource that was updated anywhere on the tape is not a
 * difference, and neither is an additional update.
 */
class ResourceUpdatesJudge {
  readonly #options: ResourceUpdatesJudgeOptions
  readonly #differ: ReturnType<typeof createRuleDiffer>
  readonly #links = new Map<string, LinkUpdates>()

  constructor(options: ResourceUpdatesJudgeOptions) {
    this.#options = options
    this.#differ = createRuleDiffer(EXACT_RULE.kind, options.judging)
  }

  /** Waits a moment for late updates, but only if another resource was updated instead. */
  async judge({ link, wanted, now }: UpdatesToJudge): Promise<readonly StepFinding[]> {
    const { judging, grace } = this.#options
    const count = wanted.get(RESOURCE_UPDATED)
    if (judging.validate === false || count === undefined) return []
    const onLink = this.#on(link)
    const replaced = (): readonly Pair[] => this.#replaced(onLink, count, now)
    if (replaced().length === 0) return []
    await now.waitUntil(() => replaced().length === 0, grace)
    return replaced().flatMap((pair) => this.#findings(onLink, pair))
  }

  #on(link: string): LinkUpdates {
    const known = this.#links.get(link)
    if (known !== undefined) return known
    const recorded = this.#options.recordedOn(link)
    const made = {
      recorded,
      names: new Set(recorded),
      seen: 0,
      unexpected: new Set<string>(),
      lost: new Set<string>(),
    }
    this.#links.set(link, made)
    return made
  }

  #replaced(onLink: LinkUpdates, count: number, now: LiveNotifications): readonly Pair[] {
    const unexpected = this.#unexpected(onLink, now)
    if (unexpected.length === 0) return []
    const awaited = new Set(onLink.recorded.slice(0, count))
    const isMissing = (uri: string): boolean =>
      !onLink.lost.has(uri) && ![...now.updates].some((one) => this.#isSame(uri, one))
    const missing = [...awaited].filter(isMissing)
    return missing.slice(0, unexpected.length).map((uri, place) => [uri, unexpected[place] ?? uri])
  }

  /** The updated resources that are not on the tape, given the values that are carried by now. */
  #unexpected(onLink: LinkUpdates, now: LiveNotifications): readonly string[] {
    const { names, unexpected, seen } = onLink
    if (now.updates.size > seen) for (const uri of [...now.updates].slice(seen)) unexpected.add(uri)
    onLink.seen = now.updates.size
    for (const uri of unexpected)
      if (names.has(uri) || [...names].some((one) => this.#isSame(one, uri))) unexpected.delete(uri)
    return [...unexpected]
  }

  /** Makes the findings of a pair, which is then not reported again. */
  #findings({ unexpected, lost }: LinkUpdates, [recorded, live]: Pair): readonly StepFinding[] {
    unexpected.delete(live)
    lost.add(recorded)
    return this.#differences(recorded, live)
      .map(differenceFinding)
      .map((finding) => ({ ...finding, message: `of ${RESOURCE_UPDATED} ${finding.message}` }))
  }

  #isSame(recorded: string, live: string): boolean {
    return recorded === live || this.#differences(recorded, live).length === 0
  }

  #differences(recorded: string, live: string): readonly Difference[] {
    const differences = this.#differ.values({ params: { uri: recorded } }, { params: { uri: live } })
    return separateNoise(differences, { isLiveValue: this.#options.isLiveValue }).kept
  }
}

/** A recorded resource and the live one that was updated instead. */
type Pair = readonly [string, string]

interface LinkUpdates {
  readonly recorded: readonly string[]
  /** `recorded` without duplicates. */
  readonly names: ReadonlySet<string>
  /** How many live updates were compared so far. */
  seen: number
  readonly unexpected: Set<string>
  readonly lost: Set<string>
}
