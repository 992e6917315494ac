import { firstWords } from '../../wire/first-words.ts'
import { member } from '../../wire/message.ts'
import type { Finding } from './finding.ts'
import { resultIn, type Judged } from './judged.ts'

/** Whether the tool failed, or worked, as it had. */
export function judgeIsError({ live, recorded }: Judged): readonly Finding[] {
  const [before, now] = [resultIn(recorded), resultIn(live)]
  if (before === undefined || now === undefined) return []
  const [expected, actual] = [failed(before), failed(now)]
  if (expected === actual) return []
  const message = actual
    ? `the tool failed: ${firstText(now)}`
    : 'the tool worked, and had failed when recorded'
  return [{ layer: 'is-error', level: 'error', message, path: 'result.isError', expected, actual }]
}

function failed(result: unknown): boolean {
  return member(result, 'isError') === true
}

function firstText(result: unknown): string {
  const content = member(result, 'content')
  const text = Array.isArray(content) ? member(content[0], 'text') : undefined
  return typeof text === 'string' ? firstWords(text, 200) : 'it says no more'
}
