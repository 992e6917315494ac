import { readFile } from 'node:fs/promises'
import { defineCommand, type CommandDefinition } from './command.ts'
import { option, usageError, type OptionRow } from './options/option.ts'
import { fileValue, switchOn, textValue } from './options/option-types.ts'
import { jsonOption, TAPE_ARGUMENT } from './options/shared-options.ts'
import { print, printText } from './output/print.ts'
import { createOutputRedactor } from './output/redact-output.ts'
import { inferNamedClass, NAMED_KINDS } from '../diff/noise/classes/index.ts'
import { valuesAt } from '../diff/noise/learned.ts'
import { suggestName } from '../text.ts'
import type { ReelayError } from '../errors.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import { formatPath, parsePath, type PathPattern } from '../json/path.ts'
import {
  callNameOf,
  emptyProfile,
  TapeRequests,
  type NoiseProfile,
  type ProfiledRequest,
  type ProfilePlace,
} from '../replay/noise/noise-profile.ts'
import {
  profileContent,
  readNoiseProfile,
  variationsOf,
  writeNoiseProfile,
} from '../replay/noise/profile-file.ts'
import { outcomeText } from '../replay/judge/judge.ts'
import { profileAsText } from '../report/noise.ts'
import { loadTape, type Tape } from '../store/file/read.ts'
import { resolveTape } from '../store/home.ts'

const profileOption: OptionRow<string> = option('--profile', fileValue, 'Use the profile in this file', {
  default: 'the one next to the tape',
})

const EXCHANGE_ARGUMENTS = {
  ...TAPE_ARGUMENT,
  '[exchange]': 'Number of the exchange, as in #6',
  '[path]': 'Path in its response, e.g. result.structuredContent.id',
} as const

interface AcceptFlags {
  readonly as?: string
  readonly note?: string
  readonly report?: string
  readonly profile?: string
}

interface ForgetFlags {
  readonly all?: true
  readonly profile?: string
}

export const noiseCommand: CommandDefinition = {
  name: 'noise',
  options: {},
  commands: [
    defineCommand<{ json?: true; profile?: string }>({
      parent: 'noise',
      name: 'show',
      help: 'List what varies',
      arguments: TAPE_ARGUMENT,
      options: { json: jsonOption, profile: profileOption },
      run: ([tape = ''], flags) => show(tape, flags),
    }),
    defineCommand<AcceptFlags>({
      parent: 'noise',
      name: 'accept',
      help: 'Accept that a value varies, or all differences in a report of reelay verify',
      arguments: EXCHANGE_ARGUMENTS,
      options: {
        as: option(
          '--as <class>',
          textValue,
          `Accept only values of this class, which is made from the recorded value: ${NAMED_KINDS.join(', ')}, order`,
          { default: 'any' },
        ),
        report: option(
          '--report',
          fileValue,
          'Accept the differences in this report, written by reelay verify -o <file>',
        ),
        note: option('--note <text>', textValue, 'Say in the profile why it is accepted'),
        profile: profileOption,
      },
      run: ([tape = '', exchange, path], flags) => accept(tape, { exchange, path }, flags),
    }),
    defineCommand<ForgetFlags>({
      parent: 'noise',
      name: 'forget',
      help: 'Remove places from the profile',
      arguments: EXCHANGE_ARGUMENTS,
      options: {
        all: option('--all', switchOn, 'Remove all places'),
        profile: profileOption,
      },
      run: ([tape = '', exchange, path], flags) => forget(tape, { exchange, path }, flags),
    }),
  ],
}

async function show(name: string, { json, profile: path }: { json?: true; profile?: string }): Promise<void> {
  const tape = await loadTape(resolveTape(name))
  const stored = readNoiseProfile(tape, { path })
  const redact = createOutputRedactor()
  if (stored === undefined) {
    if (json) print('{\n  "file": null\n}\n')
    process.stderr.write(
      `no noise profile beside ${tape.path} yet: make one with reelay learn ${name} -- <server command>\n`,
    )
    return
  }
  if (stored.stale !== undefined) warnAboutStale(stored.path, stored.stale)
  const content = {
    file: stored.path,
    stale: stored.stale ?? null,
    profile: profileContent(tape, stored.profile),
  }
  if (json) print(redact(`${JSON.stringify(content, null, 2)}\n`))
  else printText(redact(profileAsText(tape, stored.profile)))
}

function warnAboutStale(path: string, why: string): void {
  process.stderr.write(
    `reelay noise: warning: verify does not use ${path}, because ${why}; renew it with reelay learn\n`,
  )
}

interface PlaceWords {
  readonly exchange: string | undefined
  readonly path: string | undefined
}

/** A place that the user accepts. */
interface AcceptedPlace {
  readonly request: ProfiledRequest
  readonly path: PathPattern
  /** Values that were seen at the place. */
  readonly values: readonly unknown[]
}

async function accept(name: string, words: PlaceWords, flags: AcceptFlags): Promise<void> {
  const tape = await loadTape(resolveTape(name))
  const { as: kind = 'any', note } = flags
  if (kind !== 'order' && !NAMED_KINDS.includes(kind))
    throw usageError(
      `unknown class ${JSON.stringify(kind)} for --as${suggestName(kind, NAMED_KINDS)}`,
      `use one of ${NAMED_KINDS.join(', ')}, order`,
    )
  const accepted = await acceptedPlaces(tape, words, flags)
  const places = accepted.map((one) => ({ request: one.request, place: handPlace(one, kind, note) }))
  const { profile, path } = profileToChange(tape, flags.profile)
  const next = places.reduce((changed, { request, place }) => withPlace(changed, request, place), profile)
  const file = await writeNoiseProfile(tape, next, { path, redact: redactorFor(tape) })
  const shown = createOutputRedactor()
  for (const { request, place } of places)
    print(
      shown(
        `accepted: #${request.exchange} ${callNameOf(request)} ${formatPath(place.path)}: ${describe(place)}\n`,
      ),
    )
  process.stderr.write(`reelay noise: written to ${file}\n`)
}

function describe(place: ProfilePlace): string {
  return place.classes.map(({ text }) => text).join(' or ') || variationsOf(place).join(', ')
}

/** A redacted tape holds no secrets, so nothing that is made from it does. */
function redactorFor({ header }: Tape): (text: string) => string {
  return header.redaction === undefined ? createOutputRedactor() : String
}

async function acceptedPlaces(
  tape: Tape,
  { exchange, path }: PlaceWords,
  { report }: AcceptFlags,
): Promise<readonly AcceptedPlace[]> {
  if (report !== undefined) return placesInReport(tape, await readFile(report, 'utf8'), { exchange, path })
  if (exchange === undefined || path === undefined)
    throw usageError(
      'accept needs an exchange and a path, or --report',
      'for example: reelay noise accept search 6 result.structuredContent.id --as uuid',
    )
  const request = requestAt(tape, exchange)
  const pattern = parsePath(path)
  return [{ request, path: pattern, values: recordedValues(tape, request, pattern) }]
}

/** The differences in a JSON report of `verify`, of one exchange or path if they are given. */
function placesInReport(tape: Tape, text: string, { exchange, path }: PlaceWords): readonly AcceptedPlace[] {
  const steps = member(parseJson(text), 'steps')
  if (!Array.isArray(steps))
    throw usageError(
      '--report does not name a report of reelay verify',
      'write one with reelay verify -o report.json',
    )
  const only = exchange === undefined ? undefined : requestAt(tape, exchange).exchange
  const requests = new TapeRequests(tape)
  const places = steps.flatMap((step: unknown) => {
    const [number, findings] = [member(step, 'exchange'), member(step, 'findings')]
    if (typeof number !== 'number' || !Array.isArray(findings) || (only !== undefined && number !== only))
      return []
    const request = requests.at(number)
    return findings.flatMap((finding: unknown): readonly AcceptedPlace[] => {
      if (request === undefined || !isObject(finding) || typeof finding['path'] !== 'string') return []
      if (path !== undefined && finding['path'] !== path) return []
      const values = [finding['expected'], finding['actual']].filter((value) => value !== undefined)
      return [{ request, path: parsePath(finding['path']), values }]
    })
  })
  if (places.length === 0)
    throw usageError('the report has no such difference', 'reelay verify -o report.json writes one')
  return places
}

function handPlace({ path, values }: AcceptedPlace, kind: string, note: string | undefined): ProfilePlace {
  const facts = {
    path,
    by: 'hand',
    values: 0,
    runs: 0,
    samples: [],
    ...(note !== undefined && { note }),
  } as const
  if (kind === 'order') return { ...facts, kinds: new Set(['order']), classes: [] }
  const found = inferNamedClass(kind, values)
  if (found === undefined)
    throw usageError(
      `${formatPath(path)} is not of the class ${kind}: ${values.length === 0 ? 'there is no recorded value' : JSON.stringify(values[0])}`,
      'leave out --as to accept any value',
    )
  return { ...facts, kinds: new Set(['changed']), classes: [found] }
}

function recordedValues({ turns }: Tape, request: ProfiledRequest, path: PathPattern): readonly unknown[] {
  const response = turns.find(({ exchange }) => exchange === request.exchange)?.response
  return response === undefined ? [] : valuesAt(parseJson(outcomeText(response.text) ?? ''), path)
}

function requestAt(tape: Tape, exchange: string): ProfiledRequest {
  const request = new TapeRequests(tape).at(Number(exchange.replace(/^#/, '')))
  if (request !== undefined) return request
  throw usageError(
    `${exchange} is not an exchange of the tape`,
    'reelay inspect shows the numbers of the exchanges',
  )
}

interface ChangedProfile {
  readonly profile: NoiseProfile
  readonly path: string | undefined
}

function profileToChange(tape: Tape, path: string | undefined): ChangedProfile {
  const stored = readNoiseProfile(tape, { path })
  if (stored?.stale === undefined)
    return { profile: stored?.profile ?? emptyProfile(tape), path: stored?.path ?? path }
  throw staleProfile(stored.path, stored.stale)
}

function staleProfile(path: string, why: string): ReelayError {
  return usageError(
    `${path} cannot be changed, because ${why}`,
    'renew it with reelay learn, or remove the file',
  )
}

/** Adds a place. It replaces places with the same path. */
function withPlace(profile: NoiseProfile, request: ProfiledRequest, place: ProfilePlace): NoiseProfile {
  const isSame = (one: ProfiledRequest): boolean => one.exchange === request.exchange
  const known = profile.exchanges.find(isSame)
  const kept = known?.places.filter((one) => formatPath(one.path) !== formatPath(place.path)) ?? []
  const entry = { ...request, places: [...kept, place] }
  const others = profile.exchanges.filter((one) => !isSame(one))
  return { ...profile, exchanges: [...others, entry].toSorted((one, other) => one.exchange - other.exchange) }
}

async function forget(
  name: string,
  { exchange, path: place }: PlaceWords,
  flags: ForgetFlags,
): Promise<void> {
  const tape = await loadTape(resolveTape(name))
  if (exchange === undefined && !flags.all)
    throw usageError(
      'forget needs an exchange or --all',
      `reelay noise show ${name} lists the exchanges and their places`,
    )
  const { profile, path } = profileToChange(tape, flags.profile)
  const number = exchange === undefined ? undefined : requestAt(tape, exchange).exchange
  const wanted = place === undefined ? undefined : formatPath(parsePath(place))
  const removed: string[] = []
  const exchanges = profile.exchanges.map((entry) => ({
    ...entry,
    places: entry.places.filter((one) => {
      const isRemoved =
        (number === undefined || entry.exchange === number) &&
        (wanted === undefined || formatPath(one.path) === wanted)
      if (isRemoved) removed.push(`#${entry.exchange} ${callNameOf(entry)} ${formatPath(one.path)}`)
      return !isRemoved
    }),
  }))
  if (removed.length === 0)
    throw usageError(
      'the profile has no such place',
      `reelay noise show ${name} lists the exchanges and their places`,
    )
  const next = { ...profile, exchanges: exchanges.filter(({ places }) => places.length > 0) }
  const file = await writeNoiseProfile(tape, next, { path, redact: redactorFor(tape) })
  print(createOutputRedactor()(removed.map((line) => `removed: ${line}\n`).join('')))
  process.stderr.write(`reelay noise: written to ${file}\n`)
}
