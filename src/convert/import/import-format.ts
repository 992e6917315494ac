import type { Direction } from '../../protocol/message.ts'

/** One message out of another tool's recording. */
export interface ImportedMessage {
  readonly dir: Direction
  /** The JSON text; as it stood in the file, where it stood there as one. */
  readonly text: string
}

/** A recording of another tool, as far as a tape can hold it. */
export interface ImportedRecording {
  readonly messages: readonly ImportedMessage[]
  /** What the user is to know: what was passed over, or had to be made up. */
  readonly notes: readonly string[]
}

/** One format: one file here, and one line in the list of `index.ts`. */
export interface ImportFormat {
  readonly name: string
  readonly description: string
  /** Whether a file looks like it; formats are asked in the order of the list. */
  readonly matches: (text: string) => boolean
  /** Throws a ReelayError when there is nothing of it in the file. */
  readonly read: (text: string) => ImportedRecording
}
