import { expect, test } from 'vitest'
import { KEYWORD_FORMS } from './keyword-forms.ts'
import { defaultForms } from './keywords.ts'

test('the list of keywords in base64 is that of the rules as they are now; npm run forms brings it up to date', () => {
  expect(KEYWORD_FORMS).toEqual(defaultForms())
})
