import { expect, test } from 'vitest'
import { DEFAULT_IMAGE, RULES_DIGEST } from './default-image.ts'
import { buildDefaultImage, digestDefaultRules } from './build-default-image.ts'

test('the generated tables belong to the rules; npm run patterns renews them', () => {
  const isCurrent = RULES_DIGEST === digestDefaultRules()
  expect(isCurrent ? 'up to date' : 'the rules have changed: run `npm run patterns`').toBe('up to date')
  expect(DEFAULT_IMAGE).toEqual(buildDefaultImage())
})
