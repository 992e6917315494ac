import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import {
  checkServer,
  missOnPurpose,
  playBack,
  recordSession,
  showServerGone,
  showTape,
  type Stage,
} from './acts.ts'

export interface StoryOptions {
  /** How the user starts Reelay, for the closing lines. */
  readonly reelay: string
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

/** Records a session with a real server, ends the server, plays it from the tape, checks it with the tape; throws where that did not really happen. */
export async function tellStory({ reelay, tell, signal }: StoryOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-demo-'))
  const stage: Stage = { folder, tell, signal }
  try {
    tell(
      styleText(
        'bold',
        'Reelay records an MCP session, then plays the server without the server, and the client without the client.',
      ),
    )
    const recorded = await recordSession(stage)
    await showTape(stage)
    showServerGone(stage, recorded)
    await playBack(stage, recorded)
    await missOnPurpose(stage)
    await checkServer(stage)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  tellWhatNext(tell, reelay)
}

function tellWhatNext(tell: StoryOptions['tell'], reelay: string): void {
  tell('')
  tell(
    `${styleText('bold', 'Your turn.')} The demo's tape is deleted. With your own server, in your client's config or here:`,
  )
  tell(styleText('cyan', `  ${reelay} record my-session -- <your server command>`))
  tell(styleText('cyan', `  ${reelay} serve my-session`))
  tell(styleText('cyan', `  ${reelay} verify my-session -- <your server command>`))
}
