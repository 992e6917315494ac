import type { OnFetch } from './fetch-hook.ts'
import type { OnStart } from './spawn-hook.ts'

/** What becomes of the servers of a program: those that it starts, and those that it reaches over HTTP. */
export interface Links {
  readonly onStart: OnStart
  readonly onFetch: OnFetch
}
