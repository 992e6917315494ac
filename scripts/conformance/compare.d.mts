/** Scenario → check → its status, or several with a space between where the check was made more than once. */
type Results = Readonly<Record<string, Readonly<Record<string, string>>>>

interface Count {
  readonly passed: number
  readonly failed: number
}

interface Row {
  readonly scenario: string
  readonly direct: Count
  /** Missing where a reverse proxy cannot be in between. */
  readonly reverse?: Count
  readonly forward: Count
  readonly verdict: 'same' | 'DIFFERENT' | 'guarded' | 'unsteady'
  readonly differences: readonly {
    readonly way: 'reverse' | 'forward'
    readonly check: string
    readonly direct: string
    readonly recorded: string
  }[]
}

export function compareRuns(runs: {
  readonly direct: Results
  readonly again: Results
  readonly reverse: Results
  readonly forward: Results
}): readonly Row[]

export function total(counts: readonly (Count | undefined)[]): Count
