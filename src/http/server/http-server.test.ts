import { expect, test } from 'vitest'
import { createHttpServer } from './http-server.ts'

test('there is no timeout for requests and idle streams, only for heads and idle connections', () => {
  const { timeout, requestTimeout, headersTimeout, keepAliveTimeout } = createHttpServer()
  expect({ timeout, requestTimeout, headersTimeout, keepAliveTimeout }).toEqual({
    timeout: 0,
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 65_000,
  })
})
