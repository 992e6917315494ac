import { startControl, type ControlServer } from '../../control/control-server.ts'
import { errorMessage } from '../../errors.ts'
import { parseFilter } from '../../filter/filter.ts'
import { interceptSubject } from '../../record/intercept/intercept-control.ts'
import { MessageFilter } from '../../record/message-filter.ts'
import { Interceptor } from '../../record/intercept/interceptor.ts'
import { quoteTapeArgument } from '../../text.ts'
import type { RecordTapeArgs } from '../options/record-options.ts'
import { nameOrPath, printNotice } from './record-output.ts'

/** Holds messages of a recording for control clients. */
export interface RecordingInterception {
  readonly interceptor: Interceptor
  /** Opens the control socket of the tape. */
  readonly listen: (tape: string | undefined) => Promise<void>
  /** Releases what is held, and closes the socket. */
  readonly close: () => void
}

/** Returns `undefined` if nothing is to be held. Throws if the filter is invalid. */
export function prepareInterception({
  intercept,
  quiet,
  rules,
}: RecordTapeArgs): RecordingInterception | undefined {
  if (intercept === undefined) return undefined
  const { filter, holdLimitMs, onLimit, http } = intercept
  const { only = [], skip = [] } = rules
  const kept = only.length + skip.length === 0 ? undefined : new MessageFilter(only, skip, undefined)
  const isRecorded = kept && ((text: string): boolean => kept.keepsRequest(text))
  const interceptor = new Interceptor({
    filter: parseFilter(filter),
    holdLimitMs,
    onLimit,
    isRecorded,
    onNotice: quiet ? undefined : printNotice,
  })
  let control: ControlServer | undefined
  let path: string | undefined
  return {
    interceptor,
    listen: async (tape) => {
      path = tape
      if (tape === undefined) return
      try {
        control = await startControl({ tape, subject: interceptSubject(interceptor, () => path), http })
      } catch (error) {
        interceptor.close() // a message that nobody can see must not be held
        return printNotice(`nothing is held: ${errorMessage(error)}`)
      }
      const { publish } = control
      interceptor.attach(
        (event) => {
          if (event.event !== 'tape') return
          path = event.tape
          publish(event.tape)
        },
        { decides: false },
      )
      if (quiet) return
      printNotice(
        `holding messages that match ${filter}; to see them: reelay intercept ${quoteTapeArgument(nameOrPath(tape))}`,
      )
      if (control.address.http !== undefined)
        printNotice(`control over HTTP: ${control.address.http}, with the token in ${control.file}`)
    },
    close: () => {
      interceptor.close()
      control?.close()
    },
  }
}
