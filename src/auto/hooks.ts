import type { FetchInterceptor } from './fetch-hook.ts'
import type { SpawnInterceptor } from './spawn-hook.ts'

/** What becomes of the servers of a program: those that it starts, and those that it reaches over HTTP. */
export interface ServerHooks {
  readonly onStart: SpawnInterceptor
  readonly onFetch: FetchInterceptor
}
