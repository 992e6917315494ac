import type { Direction } from '../../protocol/message.ts'
import type { HttpFrame, RawFrame, SseFields } from '../../tape/frame.ts'
import type { TapeLabelOptions, TapeServer } from '../../tape/header.ts'
import type { ImportSource } from './import-source.ts'

/** One import format: one entry in the list in `index.ts`. */
export interface ImportFormat {
  readonly name: string
  readonly description: string
  /** Returns why a file is not in this format, or `undefined` if it is. Formats are tried in the order of the list. */
  readonly reject: (source: ImportSource) => string | undefined
  /** Throws a `ReelayError` if the file contains no recording of this format. */
  readonly read: (source: ImportSource) => ImportedRecording
}

/** Another tool's recording, as far as a tape can represent it. */
export interface ImportedRecording {
  /** In the order of the tape. */
  readonly frames: readonly ImportedFrame[]
  /** What is known of the servers, by their names. */
  readonly servers?: Readonly<Record<string, TapeServer>>
  readonly labels?: TapeLabelOptions
  /** When the recording began, in milliseconds since 1970. By default the time of its first frame. */
  readonly started?: number
  /** Notes for the user: what was skipped, and what had to be inferred. */
  readonly notes?: readonly string[]
}

export type ImportedFrame = ImportedPlace &
  (
    | {
        readonly kind: 'message'
        readonly dir: Direction
        /** The JSON text, byte for byte where the file contains the message as JSON. */
        readonly text: string
        readonly sse?: SseFields
        /** The message as its sender wrote it, if it was changed on its way. */
        readonly original?: string
      }
    | ({ readonly kind: 'raw' } & Pick<RawFrame, 'dir' | 'raw' | 'why' | 'sse' | 'base64' | 'cut'>)
    | { readonly kind: 'stderr'; readonly stderr: string }
    | ({ readonly kind: 'http' } & Pick<HttpFrame, 'dir' | 'http'>)
    | { readonly kind: 'event'; readonly event: string; readonly details?: Readonly<Record<string, unknown>> }
  )

/** When and where a frame belongs. */
export interface ImportedPlace {
  /** Milliseconds since 1970. By default the time of the frame before. */
  readonly at?: number | undefined
  /** By default the only server of the recording. */
  readonly server?: string | undefined
  /** The number of the connection to the server, counted from 1, which is the default. */
  readonly conn?: number | undefined
  /** The number of the HTTP exchange. */
  readonly x?: number | undefined
}
