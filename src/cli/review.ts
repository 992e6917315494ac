import type { Finding } from '../share/findings.ts'
import { visible } from '../wire/visible.ts'
import type { Ask } from './terminal.ts'

/** Asks of each finding whether it is a secret. Gives those that are none; undefined when the review was left. */
export async function review(findings: readonly Finding[], ask: Ask): Promise<readonly string[] | undefined> {
  const kept: string[] = []
  for (const [place, finding] of findings.entries()) {
    const answer = await askOf(finding, `${place + 1} of ${findings.length}`, ask)
    if (answer === 'quit') return undefined
    if (answer === 'all') return kept
    if (answer === 'no') kept.push(finding.value)
  }
  return kept
}

type Answer = 'yes' | 'no' | 'all' | 'quit'

async function askOf({ value, frames }: Finding, place: string, ask: Ask): Promise<Answer> {
  let shown = masked(value)
  for (;;) {
    const said = await ask(
      `${place}: ${shown}, ${placesOf(frames)}\n  a secret? [Y]es, no, show, all, quit: `,
    )
    const word = (said ?? 'quit').trim().toLowerCase()
    const answer = ANSWERS.find((one) => one.startsWith(word === '' ? 'y' : word))
    if (answer !== undefined) return answer
    if (word !== '' && 'show'.startsWith(word)) shown = visible(value)
  }
}

const ANSWERS: readonly Answer[] = ['yes', 'no', 'all', 'quit']

/** Enough to know it again, for one who knows it. */
function masked(value: string): string {
  const ends = value.length < 12 ? `${value.slice(0, 1)}…` : `${value.slice(0, 3)}…${value.slice(-2)}`
  return `${visible(ends)} (${value.length} characters)`
}

function placesOf(frames: readonly number[]): string {
  const names = frames.slice(0, SHOWN).map((n) => (n === 0 ? 'the header' : `#${n}`))
  const more = frames.length > SHOWN ? ` and ${frames.length - SHOWN} more` : ''
  return names.length === 0 ? 'cut by the end of a frame' : `in ${names.join(', ')}${more}`
}

const SHOWN = 5
