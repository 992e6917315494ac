import { describeRequest } from '../../match/describe-request.ts'
import type { Turn } from '../../tape/turn.ts'
import { escapeControlChars } from '../../text.ts'
import { FaultRuleCounter, describeFaultRule, type FaultRule } from './fault-rules.ts'
import { DEFAULT_SEED, seededRandom } from '../../seeded-random.ts'

/** What a fault would do to a client that repeats the recorded session. */
interface FaultForecast {
  /** The fault in words. */
  readonly fault: string
  readonly strikes: readonly { readonly frame: number; readonly request: string }[]
}

/** Goes through the recorded requests in their order, and says which each fault would strike: the first that does wins. */
export function forecastFaults(
  turns: readonly Turn[],
  rules: readonly FaultRule[],
  seed: number = DEFAULT_SEED,
): readonly FaultForecast[] {
  const random = seededRandom(seed)
  const forecasts = rules.map((rule) => ({
    counter: new FaultRuleCounter(rule, random),
    fault: describeFaultRule(rule),
    strikes: [] as FaultForecast['strikes'][number][],
  }))
  for (const { trigger } of turns) {
    if (trigger?.message.kind !== 'request') continue
    const { message, n } = trigger
    const [first] = forecasts.filter(({ counter }) => counter.applies(message))
    first?.strikes.push({ frame: n, request: describeRequest(message) })
  }
  return forecasts.map(({ fault, strikes }) => ({ fault, strikes }))
}

export function formatForecast(forecasts: readonly FaultForecast[]): string {
  const lines = forecasts.flatMap(({ fault, strikes }, place) => [
    `${place + 1}. ${fault}`,
    ...strikes.map(({ frame, request }) => `   #${frame} ${request}`),
    ...(strikes.length === 0 ? ['   strikes no request of this tape'] : []),
  ])
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}
