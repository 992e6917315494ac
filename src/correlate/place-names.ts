import type { JsonPath } from '../json/find.ts'
import type { LocationStep } from '../bindings/binding.ts'
import { nameWords, type LocationNames } from '../bindings/names.ts'

/** The names around a value: the member that holds it and those above, and the words of the tool that it went to or came from. */
export function namesAtLocation(
  path: JsonPath,
  inside: readonly LocationStep[],
  about: readonly string[],
): LocationNames {
  const keys = [
    ...path.slice(1),
    ...inside.flatMap((lens) => (lens.kind === 'json' ? lens.path : [])),
  ].filter((step) => typeof step === 'string')
  const own = keys.at(-1) ?? ''
  const above = keys.slice(0, -1).flatMap(nameWords)
  return { own: nameWords(own), around: [...above, ...about] }
}

/** A value inside a text is named by the words before it; where there are none, by the name of the text. */
export function namesFromLabel(outer: LocationNames, label: readonly string[]): LocationNames {
  const words = label.flatMap(nameWords)
  return words.length === 0 ? outer : { own: words, around: [...outer.own, ...outer.around] }
}
