/** Turns a line of one version into a line of the next. A line that it cannot read it returns as it is. */
export interface Upgrade {
  readonly from: number
  /** `number` is 1 for the header. */
  line(line: string, number: number): string
}

/** One file an upgrade, oldest first. Version 1 is the first, so there is none yet. */
export const upgrades: readonly Upgrade[] = []

/** Brings a line of an older tape to the version that this program writes. */
export function upgradeLine(
  line: string,
  number: number,
  version: number,
  chain: readonly Upgrade[] = upgrades,
): string {
  let upgraded = line
  for (const upgrade of chain) if (upgrade.from >= version) upgraded = upgrade.line(upgraded, number)
  return upgraded
}
