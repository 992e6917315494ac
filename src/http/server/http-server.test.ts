import { expect, test } from 'vitest'
import { createHttpServer } from './http-server.ts'

test('no clock of ours ends a request or a quiet stream: only heads and pauses between requests have one', () => {
  const { timeout, requestTimeout, headersTimeout, keepAliveTimeout } = createHttpServer()
  expect({ timeout, requestTimeout, headersTimeout, keepAliveTimeout }).toEqual({
    timeout: 0,
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 65_000,
  })
})
