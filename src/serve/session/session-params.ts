import type { JsonObject } from '../../protocol/message.ts'

/** What every request may carry. */
interface WithMeta {
  readonly _meta?: JsonObject | undefined
}

export interface CallParams extends WithMeta {
  readonly name: string
  readonly arguments?: JsonObject | undefined
}

export interface ResourceParams extends WithMeta {
  readonly uri: string
}

export interface PageParams extends WithMeta {
  readonly cursor?: string | undefined
}

export interface CompleteParams extends WithMeta {
  readonly ref: JsonObject
  readonly argument: { readonly name: string; readonly value: string }
  readonly context?: JsonObject | undefined
}

interface SessionProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What a call may be given beside its params; other options of the SDKs change nothing here. */
export interface CallOptions {
  readonly onprogress?: ((progress: SessionProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}
