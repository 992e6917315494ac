import type { SecretOccurrence } from '../share/find-secrets.ts'
import { escapeControlChars } from '../text.ts'
import type { AskQuestion } from './output/terminal.ts'

/** Asks of each finding whether it is a secret. Gives those that are none; undefined when the review was left. */
export async function reviewSecrets(
  findings: readonly SecretOccurrence[],
  ask: AskQuestion,
): Promise<readonly string[] | undefined> {
  const kept: string[] = []
  for (const [place, finding] of findings.entries()) {
    const answer = await askAboutSecret(finding, `${place + 1} of ${findings.length}`, ask)
    if (answer === 'quit') return undefined
    if (answer === 'all') return kept
    if (answer === 'no') kept.push(finding.value)
  }
  return kept
}

type ReviewAnswer = 'yes' | 'no' | 'all' | 'quit'

async function askAboutSecret(
  { value, frames }: SecretOccurrence,
  place: string,
  ask: AskQuestion,
): Promise<ReviewAnswer> {
  let shown = masked(value)
  for (;;) {
    const said = await ask(
      `${place}: ${shown}, ${framesText(frames)}\n  a secret? [Y]es, no, show, all, quit: `,
    )
    const word = (said ?? 'quit').trim().toLowerCase()
    const answer = ANSWERS.find((one) => one.startsWith(word === '' ? 'y' : word))
    if (answer !== undefined) return answer
    if (word !== '' && 'show'.startsWith(word)) shown = escapeControlChars(value)
  }
}

const ANSWERS: readonly ReviewAnswer[] = ['yes', 'no', 'all', 'quit']

/** Enough to know it again, for one who knows it. */
function masked(value: string): string {
  const ends = value.length < 12 ? `${value.slice(0, 1)}…` : `${value.slice(0, 3)}…${value.slice(-2)}`
  return `${escapeControlChars(ends)} (${value.length} characters)`
}

function framesText(frames: readonly number[]): string {
  const names = frames.slice(0, MAX_REVIEW_PLACES).map((n) => (n === 0 ? 'the header' : `#${n}`))
  const more = frames.length > MAX_REVIEW_PLACES ? ` and ${frames.length - MAX_REVIEW_PLACES} more` : ''
  return names.length === 0 ? 'cut by the end of a frame' : `in ${names.join(', ')}${more}`
}

const MAX_REVIEW_PLACES = 5
