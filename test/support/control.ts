import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { ControlClient } from '../../src/control/control-client.ts'
import type { JsonObject } from '../../src/json/parse.ts'
import { until } from './recorder.ts'

/** A control client that remembers what it was told. */
export interface Controller {
  readonly client: ControlClient
  readonly events: readonly JsonObject[]
  /** Waits for the next held message that was not returned yet. */
  readonly held: () => Promise<HeldView>
  readonly command: (name: string, args?: JsonObject) => Promise<JsonObject>
}

interface HeldView {
  readonly key: string
  readonly dir: string
  readonly method: string
  readonly target: string
  readonly text: string
  readonly leftMs: number
  readonly hasProgress: boolean
}

/** Attaches to the recorder of a tape, as soon as it listens. The recorder must have the same REELAY_HOME. */
export async function attach(tape: string, options: { watch?: boolean } = {}): Promise<Controller> {
  const events: JsonObject[] = []
  const onEvent = (event: JsonObject): void => void events.push(event)
  let client: ControlClient | undefined
  while (client === undefined) {
    client = await ControlClient.open({ tape, name: 'test', ...options, onEvent }).catch(() => undefined)
    if (client === undefined) await sleep(20)
  }
  const opened = client
  onTestFinished(() => opened.close())
  await until(() => events.length > 0)
  let taken = 0
  const all = (): JsonObject[] => events.filter(({ event }) => event === 'held')
  const held = async (): Promise<HeldView> => {
    await until(() => all().length > taken)
    return all()[taken++]?.['message'] as HeldView
  }
  return { client, events, held, command: (name, args) => opened.request(name, args) }
}
