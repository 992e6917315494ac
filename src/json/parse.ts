/** The value of a JSON text; undefined, which is no JSON value, when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // text from outside is often no JSON: the caller says what that means
  }
}
