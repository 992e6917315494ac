import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import {
  verifyServer,
  showMiss,
  serveFromTape,
  recordDemoSession,
  showServerGone,
  showDemoTape,
  type DemoContext,
} from './acts.ts'

export interface DemoOptions {
  /** How the user starts Reelay, for the closing lines. */
  readonly reelay: string
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

/** Records a session with a real server, ends the server, plays it from the tape, checks it with the tape; throws where that did not really happen. */
export async function runDemo({ reelay, tell, signal }: DemoOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-demo-'))
  const stage: DemoContext = { folder, tell, signal }
  try {
    tell(
      styleText(
        'bold',
        'Reelay records an MCP session, then plays the server without the server, and the client without the client.',
      ),
    )
    const recorded = await recordDemoSession(stage)
    await showDemoTape(stage)
    showServerGone(stage, recorded)
    await serveFromTape(stage, recorded)
    await showMiss(stage)
    await verifyServer(stage)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  printNextSteps(tell, reelay)
}

function printNextSteps(tell: DemoOptions['tell'], reelay: string): void {
  tell('')
  tell(
    `${styleText('bold', 'Your turn.')} The demo's tape is deleted. With your own server, in your client's config or here:`,
  )
  tell(styleText('cyan', `  ${reelay} record my-session -- <your server command>`))
  tell(styleText('cyan', `  ${reelay} serve my-session`))
  tell(styleText('cyan', `  ${reelay} verify my-session -- <your server command>`))
}
