import { ReelayError } from '../errors.ts'
import { parsePath, type PathPattern } from '../json/path.ts'
import { CONSENT_PARAMS } from './guard.ts'

/** A path from the request to a value in it, as options and rules take it: the first name is `params`. */
export function parseRequestPath(text: string): PathPattern {
  const path = parsePath(text)
  if (path[0] !== 'params') throw pathRootError(text, path)
  if (isConsentPath(path)) throw consentPathError(text)
  return path
}

export function isConsentPath([, first]: PathPattern): boolean {
  return typeof first === 'string' && CONSENT_PARAMS.includes(first)
}

function pathRootError(text: string, path: PathPattern): ReelayError {
  const meant = path[0] === 'arguments' ? `params.${text}` : `params.arguments.${text}`
  return new ReelayError('PATH_INVALID', `the path ${JSON.stringify(text)} does not start at "params"`, {
    hint: `a path leads from the request to the value: write ${meant} for an argument of a tool`,
  })
}

function consentPathError(text: string): ReelayError {
  return new ReelayError('PATH_INVALID', `${JSON.stringify(text)} is always compared, under every strategy`, {
    hint: `${CONSENT_PARAMS.join(' and ')} say what the user agreed to: a refusal must never be played as a consent`,
  })
}
