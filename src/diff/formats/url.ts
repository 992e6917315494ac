import { setMember, type TextFormat } from './format.ts'

/** A text that is one URL: its scheme, host, segments of the path, parameters and fragment. */
export const url: TextFormat = { name: 'a URL', parse: parseUrl }

const URL_PARTS = /^([a-z][a-z0-9+.-]{0,31}):\/\/([^\s/?#]*)([^\s?#]*)(?:\?([^\s#]*))?(?:#(\S*))?$/i
const LONGEST_URL = 10_000

function parseUrl(text: string): unknown {
  if (text.length > LONGEST_URL) return undefined
  const [, scheme, host, path, query, fragment] = URL_PARTS.exec(text) ?? []
  if (scheme === undefined || host === undefined) return undefined
  return {
    scheme,
    host,
    path: (path ?? '').split('/').slice(1),
    ...(query !== undefined && { query: parametersIn(query) }),
    ...(fragment !== undefined && { fragment }),
  }
}

/** A parameter that occurs several times has a list of values. */
function parametersIn(query: string): object {
  const values = new Map<string, string[]>()
  for (const parameter of query.split('&')) {
    const end = parameter.indexOf('=')
    const name = end < 0 ? parameter : parameter.slice(0, end)
    const known = values.get(name) ?? []
    known.push(end < 0 ? '' : parameter.slice(end + 1))
    values.set(name, known)
  }
  const parameters = {}
  for (const [name, all] of values) setMember(parameters, name, all.length === 1 ? all[0] : all)
  return parameters
}
