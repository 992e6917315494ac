import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/build-once.ts'],
    reporters: ['default', './test/support/ci-summary.ts'],
    env: { REELAY_HOME: join(tmpdir(), 'reelay-home-of-tests') },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
