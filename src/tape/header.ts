import type { TapeLabels } from './labels.ts'

/** The tape format that this version writes; every older one still opens. */
export const TAPE_VERSION = 1

/** Line 1 of a tape. */
export interface TapeHeader extends TapeLabels {
  readonly reelay: number
  readonly id: string
  /** When the clock of the frames stood at 0. */
  readonly started: string
  /** The program that wrote the tape. */
  readonly by: string
  readonly servers: Readonly<Record<string, TapeServer>>
  /** Which rules replaced secrets by stand-ins, and the name of the key that made them; absent when nothing was replaced. */
  readonly redaction?: { readonly rules: string; readonly key: string }
}

export interface TapeServer {
  readonly transport: string
  readonly command?: readonly string[]
  /** Where it was reached over HTTP, without what its query may hold of secrets. */
  readonly url?: string
  /** Names, never values, of the environment variables whose names say that they hold a secret. */
  readonly env?: readonly string[]
}
