import { ReelayError } from '../errors.ts'
import { TEXT_LABELS, pickLabels, type TapeLabels } from '../tape/labels.ts'

/** The labels that the environment holds: `REELAY_SESSION` and the like, and `REELAY_TAGS=a=b,c=d`. */
export function labelsFromEnv(env: NodeJS.ProcessEnv): TapeLabels {
  const ids = Object.fromEntries(TEXT_LABELS.map((id) => [id, env[labelVariable(id)] ?? '']))
  const tags = (env['REELAY_TAGS'] ?? '').split(',').filter((tag) => tag.trim() !== '')
  return pickLabels({ ...ids, tags: Object.fromEntries(tags.map((tag) => parseTag('REELAY_TAGS', tag))) })
}

/** The other way round: variables that hold the labels. */
export function labelsToEnv(labels: TapeLabels): Readonly<Record<string, string>> {
  const ids = TEXT_LABELS.flatMap((id) => (labels[id] === undefined ? [] : [[labelVariable(id), labels[id]]]))
  const tags = Object.entries(labels.tags).map(([key, value]) => `${key}=${value}`)
  return { ...Object.fromEntries(ids), ...(tags.length > 0 && { REELAY_TAGS: tags.join(',') }) }
}

/** Reads `key=value`; `from` says where it stands. */
export function parseTag(from: string, text: string): [key: string, value: string] {
  const equals = text.indexOf('=')
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)]
  throw new ReelayError('USAGE', `${from} ${text} is not of the form key=value`, {
    hint: 'for example suite=smoke',
  })
}

function labelVariable(id: (typeof TEXT_LABELS)[number]): string {
  return `REELAY_${id.toUpperCase()}`
}
