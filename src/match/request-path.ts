import { ReelayError } from '../errors.ts'
import { parsePath, type Path } from '../wire/path.ts'
import { GUARDED } from './guard.ts'

/** A path from the request to a value in it, as options and rules take it: the first name is `params`. */
export function parseRequestPath(text: string): Path {
  const path = parsePath(text)
  if (path[0] !== 'params') throw notFromParams(text, path)
  if (isGuarded(path)) throw guarded(text)
  return path
}

export function isGuarded([, first]: Path): boolean {
  return typeof first === 'string' && GUARDED.includes(first)
}

function notFromParams(text: string, path: Path): ReelayError {
  const meant = path[0] === 'arguments' ? `params.${text}` : `params.arguments.${text}`
  return new ReelayError('PATH_INVALID', `the path ${JSON.stringify(text)} does not start at "params"`, {
    hint: `a path leads from the request to the value: write ${meant} for an argument of a tool`,
  })
}

function guarded(text: string): ReelayError {
  return new ReelayError('PATH_INVALID', `${JSON.stringify(text)} is always compared, under every strategy`, {
    hint: `${GUARDED.join(' and ')} say what the user agreed to: a refusal must never be played as a consent`,
  })
}
