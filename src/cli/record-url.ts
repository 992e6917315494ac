import { nameOfUrl, recordHttp, type HttpRecording } from '../record/http-recorder.ts'
import { readTarget } from '../transport/target.ts'
import { visible } from '../wire/visible.ts'
import { readListen } from './listen-address.ts'
import type { UrlArgs } from './record-args.ts'
import { firstSignal } from './first-signal.ts'
import { announce, say, sumUp, tapePath } from './record-talk.ts'

const MIB = 1024 * 1024

/** Records a server at a URL until a signal ends it. */
export async function recordUrl(args: UrlArgs): Promise<void> {
  const { url, tags, maxLineMiB, redact } = args
  const server = args.server ?? nameOfUrl(readTarget(url))
  const listen = args.listen === undefined ? undefined : readListen(args.listen)
  const recording = await recordHttp({
    url,
    tape: tapePath(args, server),
    server,
    tags,
    redact,
    maxMessageBytes: maxLineMiB * MIB,
    ...(listen && { listen }),
  })
  introduce(args, recording)
  const signal = await firstSignal()
  sumUp(args, await recording.close())
  process.exit(signal === 'SIGINT' ? 130 : 0)
}

function introduce(args: UrlArgs, recording: HttpRecording): void {
  const { url, tape, failure, keyTrouble, isOpen } = recording
  if (isOpen) say(`WARNING: other machines can reach this recorder, and through it ${visible(args.url)}`)
  announce(args, { path: tape, failure, keyTrouble })
  // Without a port of the user's choice nobody else knows it, however quiet we are to be.
  if (!args.quiet || args.listen === undefined) say(`give this URL to the client: ${url}`)
}
