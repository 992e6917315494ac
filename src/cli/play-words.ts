import { quoteShellWord } from '../match/shell-word.ts'
import type { PlayFlags } from './options/read-serve-options.ts'

/** The options of playing as they are written: a command that is advised has them too, or it would be another run. */
export function formatPlayFlags(flags: PlayFlags & { readonly secrets?: string }): readonly string[] {
  const { pace, paceCap, order, onClientAnswer, override, faults, seed, clock, secrets } = flags
  return [
    ...formatFlag('--pace', pace === undefined || pace === 'none' ? undefined : formatPace(String(pace))),
    ...formatFlag('--pace-cap', paceCap === undefined ? undefined : `${paceCap}ms`),
    ...formatFlag('--order', order),
    ...formatFlag('--on-client-answer', onClientAnswer),
    ...formatFlag('--override', override),
    ...formatFlag('--faults', faults),
    ...formatFlag('--seed', seed),
    ...formatFlag('--clock', typeof clock === 'number' ? new Date(clock).toISOString() : clock),
    ...formatFlag('--secrets', secrets),
  ]
}

function formatFlag(option: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [option, quoteShellWord(String(value))]
}

function formatPace(speed: string): string {
  return speed === '1' ? 'recorded' : `x${speed}`
}
