import { ReelayError } from '../errors.ts'
import { nameOfUrl, recordHttp, type HttpRecording } from '../record/http-recorder.ts'
import { readTarget } from '../transport/target.ts'
import { visible } from '../wire/visible.ts'
import type { UrlArgs } from './record-args.ts'
import { announce, say, sumUp, tapePath } from './record-talk.ts'

const MIB = 1024 * 1024

/** Records a server at a URL until a signal ends it. */
export async function recordUrl(args: UrlArgs): Promise<void> {
  const { url, tags, maxLineMiB } = args
  const server = args.server ?? nameOfUrl(readTarget(url))
  const listen = args.listen === undefined ? undefined : readListen(args.listen)
  const recording = await recordHttp({
    url,
    tape: tapePath(args, server),
    server,
    tags,
    maxMessageBytes: maxLineMiB * MIB,
    ...(listen && { listen }),
  })
  introduce(args, recording)
  const signal = await firstSignal()
  sumUp(args, await recording.close())
  process.exit(signal === 'SIGINT' ? 130 : 0)
}

function introduce(args: UrlArgs, recording: HttpRecording): void {
  const { url, tape, failure, isOpen } = recording
  if (isOpen) say(`WARNING: other machines can reach this recorder, and through it ${visible(args.url)}`)
  announce(args, { path: tape, failure })
  // Without a port of the user's choice nobody else knows it, however quiet we are to be.
  if (!args.quiet || args.listen === undefined) say(`give this URL to the client: ${url}`)
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
    if (process.platform !== 'win32') process.once('SIGHUP', resolve)
  })
}

/** `host:port`, `[address]:port` or a port alone. */
function readListen(text: string): { host: string; port: number } {
  const found = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text)
  const port = Number(found?.[3])
  if (found === null || port > 65_535)
    throw new ReelayError('USAGE', `--listen ${text} is not of the form host:port`, {
      hint: 'for example --listen 127.0.0.1:8080; port 0 takes a free one',
    })
  return { host: found[1] ?? found[2] ?? '127.0.0.1', port }
}
