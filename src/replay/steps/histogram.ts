const BUCKETS_PER_DOUBLING = 64

/** A log-linear histogram of durations in milliseconds, exact to about one percent, of fixed size. */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS_PER_DOUBLING * 48)
  #total = 0
  #sum = 0
  #max = 0

  get count(): number {
    return this.#total
  }

  get mean(): number {
    return this.#total === 0 ? 0 : this.#sum / this.#total
  }

  get max(): number {
    return this.#max
  }

  add(milliseconds: number): void {
    const place = Math.min(bucketOf(milliseconds), this.#counts.length - 1)
    this.#counts[place] = (this.#counts[place] ?? 0) + 1
    this.#total++
    this.#sum += milliseconds
    this.#max = Math.max(this.#max, milliseconds)
  }

  merge(other: Histogram): void {
    for (const [place, count] of other.#counts.entries())
      this.#counts[place] = (this.#counts[place] ?? 0) + count
    this.#total += other.#total
    this.#sum += other.#sum
    this.#max = Math.max(this.#max, other.#max)
  }

  /** Returns the duration that this share of all durations does not exceed; 0 if there are none. */
  percentile(share: number): number {
    let left = Math.ceil(this.#total * share)
    for (const [place, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0 && count > 0) return Math.min(upperBound(place), this.#max)
    }
    return 0
  }
}

// Counts in microseconds. Each doubling is divided into equal parts.
function bucketOf(milliseconds: number): number {
  const micros = Math.max(0, milliseconds) * 1000
  if (micros < BUCKETS_PER_DOUBLING) return Math.floor(micros)
  const doubling = Math.floor(Math.log2(micros / BUCKETS_PER_DOUBLING))
  const within = Math.floor(micros / 2 ** doubling) - BUCKETS_PER_DOUBLING
  return BUCKETS_PER_DOUBLING * (doubling + 1) + within
}

function upperBound(place: number): number {
  if (place < BUCKETS_PER_DOUBLING) return (place + 1) / 1000
  const doubling = Math.floor(place / BUCKETS_PER_DOUBLING) - 1
  return ((BUCKETS_PER_DOUBLING + (place % BUCKETS_PER_DOUBLING) + 1) * 2 ** doubling) / 1000
}
