import { rangeAt, replaceAt } from '../../wire/members.ts'
import { classify, isObject, member } from '../../wire/message.ts'
import type { Path } from '../../wire/path.ts'
import { parseJson } from '../../wire/parse-json.ts'
import { holds } from './condition.ts'
import { editText } from './edit-text.ts'
import type { Action, Passing, TransformRule } from './rule.ts'

/** What the rules made of a message. */
export interface Transformed {
  readonly text: string
  readonly applied: readonly string[]
  /** Milliseconds to wait before it is sent. */
  readonly delay: number
  /** Stands for the answer: the message is not sent. */
  readonly error: { readonly code: number; readonly message: string } | undefined
  /** The id that the user gave it; by default it gets a fresh one. */
  readonly id: string | number | undefined
  /** It gets a fresh id also where recorded ones are sent. */
  readonly isRenewed?: true
}

/** Applies the rules to a message of the client, in their order; each sees what those before it did. */
export function transform(
  text: string,
  passing: Omit<Passing, 'message'>,
  rules: readonly TransformRule[],
  now: () => Date,
): Transformed {
  let result: Transformed = { text, applied: [], delay: 0, error: undefined, id: undefined }
  for (const { name, when, action } of rules) {
    const message = classify(parseJson(result.text))
    if (!holds(when, { ...passing, message })) continue
    result = { ...act(result, action, now), applied: [...result.applied, name] }
  }
  return result
}

/** Applies the rules that change answers. */
export function transformAnswer(answer: string, passing: Passing, rules: readonly TransformRule[]): string {
  return rules.reduce((text, { when, action }) => {
    if (action.kind !== 'set-result' || !holds(when, passing)) return text
    return edited(text, 'result', action.path, () => action.value)
  }, answer)
}

function act(result: Transformed, action: Action, now: () => Date): Transformed {
  const { text } = result
  switch (action.kind) {
    case 'set-param':
      return { ...result, text: edited(text, 'params', action.path, () => action.value) }
    case 'remove-param':
      return { ...result, text: edited(text, 'params', action.path, () => undefined) }
    case 'replace-param':
      return { ...result, text: edited(text, 'params', action.path, (value) => replaced(value, action)) }
    case 'set-timestamp':
      return { ...result, text: edited(text, 'params', action.path, (value) => timestamp(value, now())) }
    case 'rename-method':
      return { ...result, text: replaceAt(text, ['method'], JSON.stringify(action.to)) }
    case 'map-id':
      return idOf(text) === action.from ? { ...result, id: action.to } : result
    case 'delay':
      return { ...result, delay: result.delay + action.by }
    case 'inject-error':
      return { ...result, error: { code: action.code, message: action.message } }
    case 'regenerate-id':
      return { ...result, id: undefined, isRenewed: true }
    case 'set-result': // for the answer
      return result
  }
}

function edited(
  text: string,
  name: 'params' | 'result',
  path: Path,
  change: (value: unknown) => unknown,
): string {
  if (!isObject(parseJson(text))) return text
  const range = rangeAt(text, [name])
  const json = editText(range && text.slice(range.start, range.end), path, change)
  if (range !== undefined) return replaceAt(text, [name], json ?? '{}')
  return name === 'params' && json !== undefined
    ? `${text.slice(0, text.lastIndexOf('}'))},"params":${json}}`
    : text
}

function replaced(
  value: unknown,
  { pattern, replacement }: Extract<Action, { kind: 'replace-param' }>,
): unknown {
  return typeof value === 'string' ? value.replace(pattern, replacement) : value
}

function timestamp(value: unknown, now: Date): unknown {
  return typeof value === 'number' ? now.getTime() : now.toISOString()
}

function idOf(text: string): unknown {
  return member(parseJson(text), 'id')
}
