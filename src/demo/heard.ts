import { stripVTControlCharacters } from 'node:util'
import { member } from '../protocol/message.ts'
import type { DemoSessionMessages } from './client.ts'
import type { DemoOutcome } from './peer.ts'

/** The text of a tool's answer; none when it is an error, or no answer came. */
export function toolResultText(outcome: DemoOutcome | undefined): string | undefined {
  const content = member(member(outcome, 'result'), 'content')
  return Array.isArray(content) ? asString(member(content[0], 'text')) : undefined
}

/** Whether every kind of message that the story tells of has come. */
export function hasEveryMessageKind({ answers, progress, questions }: DemoSessionMessages): boolean {
  return answers.every((answer) => toolResultText(answer)) && progress.length > 0 && questions.length > 0
}

export function isMissOutcome(outcome: DemoOutcome | undefined): boolean {
  return member(member(member(outcome, 'error'), 'data'), 'kind') === 'replay_miss'
}

/** The miss report among the words of `reelay serve`: from its title to the closing account. */
export function missReportIn(stderr: string): readonly string[] {
  const lines = stripVTControlCharacters(stderr).split('\n')
  const start = lines.findIndex((line) => line.startsWith('REPLAY MISS'))
  const end = lines.findIndex((line) => / answered, \d+ miss/.test(line))
  return start < 0 ? [] : lines.slice(start, end < 0 ? undefined : end)
}

export function toolNames(list: DemoOutcome | undefined): readonly string[] {
  const tools = member(member(list, 'result'), 'tools')
  return Array.isArray(tools) ? tools.map((tool: unknown) => String(member(tool, 'name'))) : []
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
