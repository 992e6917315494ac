import type { Redactor } from '../redact/redactor.ts'
import type { StderrFrame } from '../tape/frame.ts'

/** What servers printed, put together again: a secret may be cut by the end of a frame. */
export class StderrRedaction {
  readonly #connections = new Map<string, StderrFrame[]>()

  add(frame: StderrFrame): void {
    const link = `${frame.conn} ${frame.server}`
    const frames = this.#connections.get(link)
    if (frames === undefined) this.#connections.set(link, [frame])
    else frames.push(frame)
  }

  /** The texts by the numbers of their frames. Each ends with a line, so that what was cut stands whole in one of them. */
  redactedTexts(redactor: Redactor): ReadonlyMap<number, string> {
    return new Map(
      [...this.#connections.values()].flatMap((frames) => redactConnectionStderr(frames, redactor)),
    )
  }
}

function redactConnectionStderr(
  frames: readonly StderrFrame[],
  redactor: Redactor,
): readonly (readonly [number, string])[] {
  const whole = frames.map(({ stderr }) => stderr).join('')
  if (redactor.text(whole) === whole) return frames.map(({ n, stderr }) => [n, stderr] as const)
  let [rest, end] = ['', 0]
  return frames.map(({ n, stderr }, index) => {
    rest += stderr
    end = index === frames.length - 1 ? rest.length : endOfLastWholeLine(rest)
    const text = redactor.text(rest.slice(0, end))
    rest = rest.slice(end)
    return [n, text] as const
  })
}

function endOfLastWholeLine(text: string): number {
  const end = text.lastIndexOf('\n') + 1
  const key = text.lastIndexOf('-----BEGIN ', end)
  return key >= 0 && key > text.lastIndexOf('-----END ', end) ? key : end
}
