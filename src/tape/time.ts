/** The time of a frame, with at most three decimals: microseconds are enough, and a line stays short. */
export function roundTime(time: number): number {
  return Math.round(time * 1000) / 1000
}
