import { readRedactionConfig } from '../config/redaction-config.ts'
import { ReelayError } from '../errors.ts'
import { member, parseJson } from '../json/parse.ts'
import { redactFrame, redactServerNames, redactServerOf, redactTapeHeader } from '../redact/redact-tape.ts'
import { Redactor } from '../redact/redactor.ts'
import { type RedactionRuleChanges, redactionRuleSet, mergeRuleChanges } from '../redact/rule-set.ts'
import { type TapeReader, openTape } from '../store/file/read.ts'
import { keyForRecording } from '../store/redaction-key.ts'
import { encodeFrame } from '../tape/codec.ts'
import type { Frame, StderrFrame, EventFrame } from '../tape/frame.ts'
import { encodeHeader, type TapeHeader } from '../tape/header.ts'
import { selectServers } from '../tape/server-filter.ts'

/** The result of redacting a tape. */
export interface TapeRedactionSummary {
  readonly frames: number
  /** Numbers of the frames in which something was replaced. */
  readonly changed: readonly number[]
  /** True if something in the header was replaced, for example in the command line. */
  readonly isHeaderChanged: boolean
  /** Number of different values that were replaced. */
  readonly secrets: number
  /** What the project's config would have left on the tape. */
  readonly projectAllows?: ProjectAllowance
}

/** The config of a project cannot decide what is safe to share, so what it allows is replaced and reported. */
interface ProjectAllowance {
  /** Number of replaced values that the config allows. */
  readonly values: number
  /** Built-in rules that the config turns off. */
  readonly off: readonly string[]
}

/** A tape with the redactor for its secrets. */
interface TapeToRedact {
  readonly reader: TapeReader
  readonly redactor: Redactor
  /** The redaction rules of the project. */
  readonly project: RedactionRuleChanges
}

/**
 * Writes the lines of a tape without its secrets. Reads the tape twice, because a value that is recognised as a secret
 * late in a session must also be replaced in earlier frames.
 */
export async function writeRedactedTape(
  { reader, redactor, project }: TapeToRedact,
  write: (line: string) => void,
): Promise<TapeRedactionSummary> {
  const stderr = await learnTapeSecrets(reader, redactor)
  const header = redactServerNames(redactTapeHeader(reader.header, redactor), redactor)
  write(encodeHeader(header))
  const changed: number[] = []
  let frames = 0
  for await (const frame of reader.frames()) {
    frames++
    const line = encodeFrame(redactTapeFrame(frame, redactor, stderr))
    if (line !== encodeFrame(frame)) changed.push(frame.n)
    write(line)
  }
  const isHeaderChanged =
    JSON.stringify({ ...header, redaction: 0 }) !== JSON.stringify({ ...reader.header, redaction: 0 })
  const allowed = projectAllowance(project, redactor)
  return {
    frames,
    changed,
    isHeaderChanged,
    secrets: redactor.replacedCount,
    ...(allowed && { projectAllows: allowed }),
  }
}

/** Returns `undefined` if the config of the project allows nothing that concerns this tape. */
function projectAllowance(
  { allow = [], off = [] }: RedactionRuleChanges,
  { replacedValues }: Redactor,
): ProjectAllowance | undefined {
  const values = replacedValues.filter((value) => allow.some((pattern) => pattern.test(value))).length
  return values === 0 && off.length === 0 ? undefined : { values, off }
}

/** Finds the secrets on a tape and returns the redacted stderr frames by frame number. */
async function learnTapeSecrets(
  reader: TapeReader,
  redactor: Redactor,
): Promise<ReadonlyMap<number, string>> {
  const texts = new StderrRedaction()
  redactServerNames(redactTapeHeader(reader.header, redactor), redactor)
  for await (const frame of reader.frames()) {
    if (frame.kind === 'stderr') texts.add(frame)
    else redactFrame(frame, redactor)
  }
  texts.redactedTexts(redactor)
  return texts.redactedTexts(redactor)
}

function redactTapeFrame(frame: Frame, redactor: Redactor, stderr: ReadonlyMap<number, string>): Frame {
  if (frame.kind === 'stderr')
    return redactServerOf({ ...frame, stderr: stderr.get(frame.n) ?? '' }, redactor)
  return redactFrame(frame, redactor)
}

/** Joins what servers wrote to stderr, because a secret may be split across frames. */
class StderrRedaction {
  readonly #connections = new Map<string, StderrFrame[]>()

  add(frame: StderrFrame): void {
    const link = `${frame.conn} ${frame.server}`
    const frames = this.#connections.get(link)
    if (frames === undefined) this.#connections.set(link, [frame])
    else frames.push(frame)
  }

  /** Redacted texts by frame number. Every text ends at a line break, so that a secret is never split between two of them. */
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

export interface TapeRedactionOptions {
  /** Rules that the user adds and removes. The config of the project can only add rules. */
  readonly changes?: RedactionRuleChanges
  /** Only these servers: comma-separated names, `*` matches anything. */
  readonly server?: string | undefined
}

/** Opens a tape, or the part of it that belongs to some servers, together with the redactor for its secrets. */
export async function openTapeForRedaction(
  path: string,
  { changes = {}, server }: TapeRedactionOptions,
): Promise<TapeToRedact> {
  const whole = await openTape(path)
  const project = readRedactionConfig(process.cwd(), 'refuse')
  const { allow: _allow, off: _off, ...additions } = project
  const rules = mergeRuleChanges(additions, changes)
  const redactor = createTapeRedactor(whole.header, rules)
  if (server === undefined) return { reader: whole, redactor, project }
  const reader = await filterTapeByServer(whole, server)
  // A value that only another server's messages show to be a secret may also appear in this server's messages.
  const elsewhere = createTapeRedactor(whole.header, rules)
  await learnTapeSecrets(whole, elsewhere)
  for (const value of elsewhere.knownSecrets) redactor.learn(value)
  return { reader, redactor, project }
}

/** Creates a redactor for an existing tape. Placeholders made with this key are left unchanged. */
function createTapeRedactor(
  { redaction }: Pick<TapeHeader, 'redaction'>,
  changes: RedactionRuleChanges,
): Redactor {
  const { key, trouble } = keyForRecording()
  if (trouble !== undefined)
    throw new ReelayError('REDACTION_KEY', trouble, {
      hint: 'a tape that was redacted without a key cannot be matched later',
    })
  const before = { email: redaction?.rules.includes('email') === true }
  const rules = redactionRuleSet(mergeRuleChanges(changes, before))
  const redactor = new Redactor({ key, rules, source: redaction?.key === key.name ? 'again' : 'fresh' })
  redactor.learnEnv(process.env)
  return redactor
}

/** Returns the tape as if only these servers had been recorded. Frames keep their numbers; the end frame counts what is left. */
async function filterTapeByServer(tape: TapeReader, filter: string): Promise<TapeReader> {
  const { header, path } = tape
  const kept = new Set(selectServers({ path, names: await serverNamesOn(tape) }, filter))
  const part = { kept, copied: await countCopiedFrames(tape, kept) }
  const servers = Object.entries(header.servers).filter(([name]) => kept.has(name))
  return {
    ...tape,
    header: { ...header, servers: Object.fromEntries(servers) },
    frames: () => filteredFrames(tape, part),
    batches: async function* () {
      for await (const frame of filteredFrames(tape, part)) yield [frame]
    },
  }
}

interface FilteredServers {
  readonly kept: ReadonlySet<string>
  /** How many of the remaining frames were copied from the previous tape. */
  readonly copied: number
}

/** Servers from the header, and servers that joined later. */
async function serverNamesOn(tape: TapeReader): Promise<readonly string[]> {
  const names = new Set(Object.keys(tape.header.servers))
  for await (const frame of tape.frames()) if ('server' in frame) names.add(frame.server ?? '')
  names.delete('')
  return [...names]
}

/** A tape that continues another one after a size limit starts with the number of frames it copied from there. */
async function countCopiedFrames(tape: TapeReader, kept: ReadonlySet<string>): Promise<number> {
  let [copied, left] = [0, 0]
  for await (const frame of tape.frames()) {
    if (left-- > 0) copied += isKept(frame, kept) ? 1 : 0
    else if (frame.kind !== 'event' || frame.event !== 'continued') return copied
    else left = Number(frame.details['frames'])
  }
  return copied
}

async function* filteredFrames(tape: TapeReader, { kept, copied }: FilteredServers): AsyncGenerator<Frame> {
  let count = 0
  for await (const frame of tape.frames()) {
    if (!isKept(frame, kept)) continue
    count++
    if (frame.kind !== 'event') yield frame
    else if (frame.event === 'continued') yield { ...frame, details: { ...frame.details, frames: copied } }
    else yield frame.event === 'end' ? adjustedEndFrame(frame, count, kept) : frame
  }
}

/** Frames that belong to no server are kept, except the names of hosts that the proxy passed through. */
function isKept(frame: Frame, kept: ReadonlySet<string>): boolean {
  const server = frame.kind === 'other' ? serverOfLine(frame.line) : frame.server
  if (server !== undefined) return kept.has(server)
  return frame.kind !== 'event' || frame.details['host'] === undefined
}

function serverOfLine(line: string): string | undefined {
  const server = member(parseJson(line), 'server')
  return typeof server === 'string' ? server : undefined
}

function adjustedEndFrame(end: EventFrame, count: number, kept: ReadonlySet<string>): EventFrame {
  const { lost = 0, servers, ...details } = end.details
  const joined = Array.isArray(servers) ? servers.filter((name) => kept.has(String(name))) : []
  return {
    ...end,
    details: {
      ...details,
      frames: count + Number(lost),
      ...(lost !== 0 && { lost }),
      ...(joined.length > 0 && { servers: joined }),
    },
  }
}
