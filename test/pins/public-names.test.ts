import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERROR_CODES } from '../../src/errors.ts'
import * as api from '../../src/index.ts'

// What others can see. Changing a pin is allowed, deliberate, and goes with a changelog line.

test('the names that the package exports', () => {
  expect(Object.keys(api).toSorted()).toMatchInlineSnapshot(`
    [
      "COMPARE_RULES",
      "ERROR_CODES",
      "MISS_CODE",
      "Recorder",
      "RecordingIndex",
      "ReelayError",
      "ReplayController",
      "ReplaySession",
      "ServerError",
      "VERSION",
      "canonicalJson",
      "checkContract",
      "classifyMessage",
      "commandTarget",
      "compareSchemas",
      "contractFromTapes",
      "createRecording",
      "diffTapes",
      "exportTape",
      "importTape",
      "learnNoise",
      "leftOverCauses",
      "listTapes",
      "liveSecrets",
      "load",
      "loadTape",
      "missAsError",
      "missAsText",
      "namedShape",
      "openIndexedTape",
      "openTape",
      "parseStages",
      "preview",
      "readCommand",
      "readContract",
      "readNoiseProfile",
      "recordFetch",
      "recordHttp",
      "recordTransport",
      "registerFormat",
      "replay",
      "replayRepeatedly",
      "replayTransport",
      "resolveTape",
      "serveHttp",
      "serveStdio",
      "serversOnTape",
      "sseTarget",
      "tapeBindings",
      "tapeFolder",
      "tapeTransport",
      "transportTarget",
      "urlTarget",
      "writeContract",
      "writeNoiseProfile",
    ]
  `)
})

test('the error codes and the exit code of each', () => {
  const exits = Object.fromEntries(Object.entries(ERROR_CODES).map(([code, { exit }]) => [code, exit]))
  expect(exits).toMatchInlineSnapshot(`
    {
      "BEFORE_RUN_FAILED": 3,
      "BINDINGS_INVALID": 2,
      "CALL_NOT_RECORDED": 1,
      "CAPSULE_INVALID": 2,
      "CA_EXISTS": 3,
      "CA_NOT_FOUND": 3,
      "CA_UNUSABLE": 3,
      "COMMAND_NOT_FOUND": 3,
      "COMMAND_NOT_RUNNABLE": 3,
      "CONFIG_BROKEN": 3,
      "CONFIG_NOT_FOUND": 3,
      "CONFIG_NOT_TRUSTED": 3,
      "CONFIG_UNWRITABLE": 3,
      "CONTROL_NOT_FOUND": 3,
      "EXPORT_FAILED": 3,
      "FILTER_INVALID": 2,
      "IMPORT_FAILED": 3,
      "LISTEN_FAILED": 3,
      "NAME_INVALID": 2,
      "NOT_REPRODUCED": 1,
      "PATH_INVALID": 2,
      "REDACTION_CONFIG": 3,
      "REDACTION_KEY": 3,
      "REDACTION_LIMIT": 3,
      "REPLAY_DRIFT": 1,
      "REPORT_UNWRITABLE": 3,
      "RULE_INVALID": 2,
      "SERVER_NOT_FOUND": 3,
      "SETTINGS_INVALID": 2,
      "SETTINGS_UNWRITABLE": 3,
      "SHARE_REFUSED": 1,
      "TAPE_BROKEN": 3,
      "TAPE_EMPTY": 3,
      "TAPE_IS_A_FOLDER": 3,
      "TAPE_NOT_FOUND": 3,
      "TAPE_NOT_OURS": 3,
      "TAPE_TOO_NEW": 3,
      "TAPE_UNREADABLE": 3,
      "TAPE_UNWRITABLE": 3,
      "TARGET_REFUSED": 3,
      "UNEXPECTED": 3,
      "URL_INVALID": 2,
      "USAGE": 2,
      "VAULT_REFUSED": 2,
      "WORKERS_FAILED": 3,
    }
  `)
})

test('the code of a miss lies outside every range that JSON-RPC and MCP reserve', () => {
  expect(api.MISS_CODE).toBe(-39404)
  expect(api.MISS_CODE >= -32768 && api.MISS_CODE <= -32000).toBe(false)
})

test('the version in the code is the version of the package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(api.VERSION).toBe(version)
})
