import type { LearnedProfile, NotNoise } from '../replay/noise/learn-noise.ts'
import {
  callNameOf,
  TapeRequests,
  type NoiseProfile,
  type ProfiledRequest,
  type ProfilePlace,
} from '../replay/noise/noise-profile.ts'
import { generalize, variationsOf } from '../replay/noise/profile-file.ts'
import { formatPath } from '../json/path.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import type { ReplayedTape } from '../replay/plan/server-part.ts'
import { escapeControlChars, truncateText } from '../text.ts'
import { heldText } from './replay.ts'

/** What was learned, what is not noise, and where the profile is. */
export function learnedAsText(tape: ReplayedTape, learned: LearnedProfile, file: string): string {
  const { profile, keptState, differences, unlearned, report } = learned
  const count = profile.exchanges.reduce((sum, { places }) => sum + places.length, 0)
  const lines = [
    ...noiseLines(tape, profile),
    ...keptState.map(
      (one) =>
        `not noise: ${notNoiseText(one)}, because calls that may write were repeated and the state was kept`,
    ),
    ...(keptState.length === 0
      ? []
      : ['  restore the state with --before-run, or accept these places with reelay noise accept']),
    ...differences.map((one) => `not noise: ${notNoiseText(one)}, in every run`),
    ...(differences.length === 0
      ? []
      : [
          `  the server does not respond as recorded: record it again, or accept the responses with reelay verify --update`,
        ]),
    ...unlearned.map(({ request, why }) => `not learned: ${requestText(request)}: ${why}`),
    ...heldText(report),
    `${count} ${count === 1 ? 'place varies' : 'places vary'} in ${profile.exchanges.length} of ${new TapeRequests(tape).size} exchanges; ${profile.runs} runs`,
    ...(unlearned.length === 0
      ? []
      : [
          `nothing is known about ${unlearned.length} ${unlearned.length === 1 ? 'exchange' : 'exchanges'}, which reelay verify judges as without a profile`,
        ]),
    `written to ${file}; reelay verify uses it`,
  ]
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}

export function learnedAsJson(
  { keptState, differences, unlearned }: LearnedProfile,
  { file, content }: { readonly file: string; readonly content: object },
): string {
  return `${JSON.stringify({ file, profile: content, keptState, differences, unlearned }, null, 2)}\n`
}

/** A profile for people: what all calls of a tool have in common, then the exchanges. */
export function profileAsText(tape: ReplayedTape, profile: NoiseProfile): string {
  const { learned, runs } = profile
  const lines = [
    ...noiseLines(tape, profile),
    ...unlearnedLine(tape, profile),
    runs === 0 || learned === undefined
      ? 'not learned from runs; reelay learn does that'
      : `learned on ${learned.slice(0, 10)} from ${runs} runs`,
  ]
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}

/** The handshake is compared in another way. */
function unlearnedLine(tape: ReplayedTape, { unlearned, runs }: NoiseProfile): readonly string[] {
  const requests = [...new TapeRequests(tape).calls()]
  const missing = requests.filter(
    ({ exchange, method }) => unlearned.has(exchange) && !isOpeningMethod(method),
  )
  return runs === 0 || missing.length === 0
    ? []
    : [`not learned: ${missing.map(({ exchange }) => `#${exchange}`).join(', ')}`]
}

function noiseLines(tape: ReplayedTape, profile: NoiseProfile): readonly string[] {
  const { calls, exchanges } = generalize(profile, new TapeRequests(tape))
  return [
    ...calls.flatMap(({ call, numbers, places }) => [
      `every call of ${call} (${numbers.map((number) => `#${number}`).join(', ')})`,
      ...places.map(placeLine),
    ]),
    ...exchanges.flatMap((entry) => [requestText(entry), ...entry.places.map(placeLine)]),
  ]
}

function placeLine(place: ProfilePlace): string {
  const seen =
    place.by === 'hand'
      ? 'accepted by hand'
      : `${place.values} ${place.values === 1 ? 'value' : 'values'} in ${place.runs} runs`
  const note = place.note === undefined ? '' : `: ${place.note}`
  return `  ${formatPath(place.path).padEnd(44)}  ${truncateText(describePlace(place), 100)}   (${seen}${note})`
}

function describePlace(place: ProfilePlace): string {
  const classes = place.classes.map(({ text }) => text).join(' or ')
  return variationsOf(place)
    .map((word) =>
      [VARIATION_TEXT[word] ?? word, word === 'order' ? '' : classes]
        .filter((text) => text !== '')
        .join(': '),
    )
    .join('; ')
}

const VARIATION_TEXT: Readonly<Record<string, string>> = {
  value: '',
  presence: 'present or not',
  items: 'items come and go',
  type: 'another type',
  order: 'another order',
  format: 'another format',
}

function notNoiseText({ request, path, why }: NotNoise): string {
  return `${requestText(request)} ${path}: ${why}`
}

function requestText({ exchange, arguments: given, ...call }: ProfiledRequest): string {
  return `#${exchange} ${callNameOf(call)}${given === '' ? '' : ` ${truncateText(given, 60)}`}`
}
