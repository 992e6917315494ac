/** Converts a line of one version to the next. Lines that it cannot read are returned unchanged. */
export interface Upgrade {
  readonly from: number
  /** `number` is 1 for the header. */
  line(line: string, number: number): string
}

/** One file for each upgrade, oldest first. Version 1 is the first version, so there is none yet. */
export const upgrades: readonly Upgrade[] = []

/** Converts a line of an older tape to the current version. */
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
