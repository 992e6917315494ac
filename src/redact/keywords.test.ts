import { expect, test } from 'vitest'
import { base64Forms } from './base64.ts'
import { KEYWORD_FORMS } from './keyword-forms.ts'
import { allKeywords, formsOfKeyword } from './keywords.ts'

test('the list of keywords in base64 is that of the rules as they are now; npm run forms brings it up to date', () => {
  expect(KEYWORD_FORMS).toEqual(
    Object.fromEntries(allKeywords().map((keyword) => [keyword, base64Forms(keyword)])),
  )
})

test.each(['mine_', 'constructor', '__proto__'])(
  'a keyword of the project, %s, is found in base64 too',
  (keyword) => {
    expect(formsOfKeyword(keyword)).toEqual(base64Forms(keyword))
  },
)
