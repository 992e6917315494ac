import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

export interface DemoTool {
  readonly name: string
  readonly description: string
  /** The name of its one argument, a text. */
  readonly argument: string
  readonly run: (value: string, caller: DemoToolContext) => Promise<string>
}

/** What a tool can say to the client while it works. */
export interface DemoToolContext {
  readonly reportProgress: (done: number, total: number, message: string) => void
  /** The client's choice; none when it cannot be asked, or declines. */
  readonly ask: (question: string, choices: readonly string[]) => Promise<string | undefined>
}

/** Each answer holds something made up on the spot, so that getting it twice proves a replay. */
export const DEMO_TOOLS: readonly DemoTool[] = [
  {
    name: 'weather',
    description: 'Say what the weather is like in a city.',
    argument: 'city',
    run: async (city) => {
      await sleep(60)
      return `${randomInt(-5, 30)} °C in ${city} (ticket ${randomTicket()})`
    },
  },
  {
    name: 'count_words',
    description: 'Count the words of a text.',
    argument: 'text',
    run: async (text) => `${text.match(/\S+/g)?.length ?? 0} words, counted at ${new Date().toISOString()}`,
  },
  {
    name: 'forecast_trip',
    description: 'Plan a trip: reports progress, then asks how to travel.',
    argument: 'to',
    run: async (to, caller) => {
      for (const [index, subject] of ['maps', 'weather', 'tickets'].entries()) {
        await sleep(30)
        caller.reportProgress(index + 1, 3, `looked at ${subject}`)
      }
      const means = await caller.ask('By train or by plane?', ['train', 'plane'])
      return `${to} by ${means ?? 'foot'}, seat ${randomInt(1, 90)} (ticket ${randomTicket()})`
    },
  },
]

function randomTicket(): string {
  return randomBytes(4).toString('hex')
}
