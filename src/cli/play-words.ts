import { shellWord } from '../match/shell-word.ts'
import type { PlayFlags } from './playing-in-force.ts'

/** The options of playing as they are written: a command that is advised has them too, or it would be another run. */
export function playWords(flags: PlayFlags & { readonly secrets?: string }): readonly string[] {
  const { pace, paceCap, order, onClientAnswer, override, faults, seed, clock, secrets } = flags
  return [
    ...word('--pace', pace === undefined || pace === 'none' ? undefined : paceWord(String(pace))),
    ...word('--pace-cap', paceCap === undefined ? undefined : `${paceCap}ms`),
    ...word('--order', order),
    ...word('--on-client-answer', onClientAnswer),
    ...word('--override', override),
    ...word('--faults', faults),
    ...word('--seed', seed),
    ...word('--clock', typeof clock === 'number' ? new Date(clock).toISOString() : clock),
    ...word('--secrets', secrets),
  ]
}

function word(option: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [option, shellWord(String(value))]
}

function paceWord(speed: string): string {
  return speed === '1' ? 'recorded' : `x${speed}`
}
