import type { ControlSubject } from '../../control/control-sessions.ts'
import { COMMAND_TYPES } from './commands.ts'
import type { ReplayController } from './controller.ts'

/**
 * Offers a controller to the clients of a control socket: each type of command is a command there, and each type of event an event.
 * Leaving changes nothing, because a run that is paused holds no message of anybody.
 */
export function replaySubject(controller: ReplayController, tape: string): ControlSubject {
  return {
    hello: () => ({ subject: 'replay', tape, commands: COMMAND_TYPES }),
    commands: Object.fromEntries(
      COMMAND_TYPES.map((type) => [
        type,
        async ({ id: _id, command: _command, ...args }) => ({
          result: await controller.execute({ ...commandArguments(args), type }),
        }),
      ]),
    ),
    attach: ({ send }) => controller.subscribe((event) => send({ event: event.type, ...event })),
  }
}

/** A breakpoint is named by its `breakpoint`, because `id` is that of the command. */
function commandArguments({ breakpoint, ...args }: Readonly<Record<string, unknown>>): object {
  return breakpoint === undefined ? args : { ...args, id: breakpoint }
}
