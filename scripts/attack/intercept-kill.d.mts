/** Kills one side of a recording that holds messages, and counts what became of the calls. */
export function interceptKills(options: {
  readonly door: string
  readonly victim: string
  readonly signal: NodeJS.Signals
  readonly rounds: number
}): Promise<{
  readonly calls: number
  readonly answered: number
  readonly errors: number
  readonly dropped: number
  readonly decisions: number
  readonly problems: readonly string[]
}>
