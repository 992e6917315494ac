import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/build-once.ts'],
    reporters: ['default', './test/support/ci-summary.ts'],
    env: { REELAY_REDACTION_KEY: 'the key of our own tests' },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
