import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findChanges } from './guard.mjs'

// Both tapes were recorded once: reelay call add a=1 b=2 --record <tape> -- node server.mjs [poisoned]
// The contract was made from the first: reelay contract make calculator.tape.jsonl -o calculator.contract.yaml

test('the server that was reviewed is accepted', async () => {
  assert.deepEqual(await findChanges(['calculator.tape.jsonl']), [])
})

test('a description that tells the model what to do is found', async () => {
  assert.deepEqual(await findChanges(['poisoned.tape.jsonl']), [
    'security description-instruction',
    'security description-path',
  ])
})
