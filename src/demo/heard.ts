import { stripVTControlCharacters } from 'node:util'
import { member } from '../wire/message.ts'
import type { Heard } from './client.ts'
import type { Outcome } from './peer.ts'

/** The text of a tool's answer; none when it is an error, or no answer came. */
export function answerText(outcome: Outcome | undefined): string | undefined {
  const content = member(member(outcome, 'result'), 'content')
  return Array.isArray(content) ? text(member(content[0], 'text')) : undefined
}

/** Whether every kind of message that the story tells of has come. */
export function isWhole({ answers, progress, questions }: Heard): boolean {
  return answers.every((answer) => answerText(answer)) && progress.length > 0 && questions.length > 0
}

export function isMiss(outcome: Outcome | undefined): boolean {
  return member(member(member(outcome, 'error'), 'data'), 'kind') === 'replay_miss'
}

/** The miss report among the words of `reelay serve`: from its title to the closing account. */
export function missReport(stderr: string): readonly string[] {
  const lines = stripVTControlCharacters(stderr).split('\n')
  const start = lines.findIndex((line) => line.startsWith('REPLAY MISS'))
  const end = lines.findIndex((line) => / answered, \d+ miss/.test(line))
  return start < 0 ? [] : lines.slice(start, end < 0 ? undefined : end)
}

export function toolNames(list: Outcome | undefined): readonly string[] {
  const tools = member(member(list, 'result'), 'tools')
  return Array.isArray(tools) ? tools.map((tool: unknown) => String(member(tool, 'name'))) : []
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
