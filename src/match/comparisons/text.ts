import { simpleComparison, type ComparisonKind, equalOr } from './comparison.ts'

export const caseInsensitiveKind: ComparisonKind = textKind(
  'case-insensitive',
  'the same text, ignoring upper and lower case',
  (text) => text.toLowerCase(),
)

export const trimKind: ComparisonKind = textKind(
  'trim',
  'the same text, ignoring white space at both ends',
  (text) => text.trim(),
)

function textKind(name: string, about: string, simplify: (text: string) => string): ComparisonKind {
  return simpleComparison({ name, about }, (recorded, got) => {
    const isSame =
      typeof recorded === 'string' && typeof got === 'string' && simplify(recorded) === simplify(got)
    return equalOr(recorded, got, isSame ? 0.5 : undefined)
  })
}
