export function installRunners(): void
export const newerNode: string
export const jest: string
export const playwright: string
export const newman: string
export const vitest5: string
export const modules: string
export const actionlint: string
