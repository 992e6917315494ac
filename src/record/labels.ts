import { ReelayError } from '../errors.ts'
import { LABEL_IDS, labelsOf, type Labels } from '../tape/labels.ts'

/** The labels that the environment holds: `REELAY_SESSION` and the like, and `REELAY_TAGS=a=b,c=d`. */
export function labelsFromEnv(env: NodeJS.ProcessEnv): Labels {
  const ids = Object.fromEntries(LABEL_IDS.map((id) => [id, env[variableOf(id)] ?? '']))
  const tags = (env['REELAY_TAGS'] ?? '').split(',').filter((tag) => tag.trim() !== '')
  return labelsOf({ ...ids, tags: Object.fromEntries(tags.map((tag) => readTag('REELAY_TAGS', tag))) })
}

/** The other way round: variables that hold the labels. */
export function labelsAsEnv(labels: Labels): Readonly<Record<string, string>> {
  const ids = LABEL_IDS.flatMap((id) => (labels[id] === undefined ? [] : [[variableOf(id), labels[id]]]))
  const tags = Object.entries(labels.tags).map(([key, value]) => `${key}=${value}`)
  return { ...Object.fromEntries(ids), ...(tags.length > 0 && { REELAY_TAGS: tags.join(',') }) }
}

/** Reads `key=value`; `from` says where it stands. */
export function readTag(from: string, text: string): [key: string, value: string] {
  const equals = text.indexOf('=')
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)]
  throw new ReelayError('USAGE', `${from} ${text} is not of the form key=value`, {
    hint: 'for example suite=smoke',
  })
}

function variableOf(id: (typeof LABEL_IDS)[number]): string {
  return `REELAY_${id.toUpperCase()}`
}
