import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Tests of processes mostly wait, so two files run at a time even on one core.
const maxWorkers = Math.max(2, availableParallelism())

/** Tests in test/ that start no processes. */
const UNIT = [
  'test/architecture/layers.test.ts',
  'test/bindings/*.test.ts',
  'test/conformance/*.test.ts',
  'test/docs/{acceptance,links}.test.ts',
  'test/http/*.test.ts',
  'test/protocol/*.test.ts',
  'test/in-process/transport-types.test.ts',
  'test/serve/{http-faults,http-plain.property}.test.ts',
  'test/tape/*.test.ts',
  'test/wrap/*.property.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', './test/support/ci-summary.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', ...UNIT],
          setupFiles: ['test/support/cases.ts', 'test/support/own-home.ts', 'test/support/no-processes.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['test/**/*.test.ts'],
          exclude: UNIT,
          globalSetup: ['test/support/build-once.ts'],
          setupFiles: ['test/support/cases.ts', 'test/support/own-home.ts'],
        },
      },
    ],
  },
})
