import { ignoreClosedOutput } from './output/print.ts'
import { serveTapes } from './serve/serve-tapes.ts'

/** `reelay serve <tape>`, as most configs of clients have it: the parser of command lines would have nothing to do. */
export async function serveSingleTape(name: string): Promise<void> {
  ignoreClosedOutput()
  await serveTapes([{ name }], {}, { kind: 'replay' })
}
