/** Kills the recorder again and again, each time at another moment. */
export function killRounds(
  door: string,
  load: string,
  rounds: number,
): Promise<{
  readonly rounds: number
  readonly received: number
  /** Messages that the client received, and that are not on the tape. */
  readonly lost: number
  /** Kills after which messages were missing. */
  readonly lossy: number
  /** Tapes that do not open. */
  readonly unopened: number
}>
