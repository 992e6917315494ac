import type { Direction } from '../../protocol/message.ts'

/** One message from another tool's recording. */
export interface ImportedMessage {
  readonly dir: Direction
  /** The JSON text, byte for byte where the file contains the message as JSON. */
  readonly text: string
}

/** Another tool's recording, as far as a tape can represent it. */
export interface ImportedRecording {
  readonly messages: readonly ImportedMessage[]
  /** Notes for the user: what was skipped, and what had to be inferred. */
  readonly notes: readonly string[]
}

/** One import format: one file in this folder and one line in `index.ts`. */
export interface ImportFormat {
  readonly name: string
  readonly description: string
  /** Recognises a file by its content. Formats are tried in the order of the list. */
  readonly matches: (text: string) => boolean
  /** Throws a `ReelayError` if the file contains no recording of this format. */
  readonly read: (text: string) => ImportedRecording
}
