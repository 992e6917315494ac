const BITS_PER_DOUBLING = 6
const BUCKETS_PER_DOUBLING = 2 ** BITS_PER_DOUBLING
const BUCKETS = BUCKETS_PER_DOUBLING * 48

/** Durations by size, with a precision of about 1 %. Two histograms can be added up without losing any. */
export class Histogram {
  #counts: Uint32Array | undefined
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
    const counts = (this.#counts ??= new Uint32Array(BUCKETS))
    const place = Math.min(bucketOf(milliseconds), BUCKETS - 1)
    counts[place] = (counts[place] ?? 0) + 1
    this.#total++
    this.#sum += milliseconds
    this.#max = Math.max(this.#max, milliseconds)
  }

  merge(other: Histogram): void {
    if (other.#counts === undefined) return
    const counts = (this.#counts ??= new Uint32Array(BUCKETS))
    // A plain loop: the iterator of a typed array takes twenty times as long.
    for (let place = 0; place < BUCKETS; place++) {
      const more = other.#counts[place] ?? 0
      if (more > 0) counts[place] = (counts[place] ?? 0) + more
    }
    this.#total += other.#total
    this.#sum += other.#sum
    this.#max = Math.max(this.#max, other.#max)
  }

  /** Returns the duration that this share of all durations does not exceed; 0 if there are none. */
  percentile(share: number): number {
    let left = Math.ceil(this.#total * share)
    for (const { upTo, count } of this.buckets()) {
      left -= count
      if (left <= 0) return Math.min(upTo, this.#max)
    }
    return 0
  }

  /** The buckets with durations, the shortest first. `upTo` is in milliseconds. */
  *buckets(): Generator<{ readonly upTo: number; readonly count: number }> {
    for (const [place, count] of this.#counts?.entries() ?? [])
      if (count > 0) yield { upTo: upperBound(place), count }
  }

  /** A short text from which `decode` makes an equal histogram: sum, maximum, and place and count of each bucket. */
  encode(): string {
    const pairs: string[] = []
    for (let place = 0; this.#counts !== undefined && place < BUCKETS; place++) {
      const count = this.#counts[place] ?? 0
      if (count > 0) pairs.push(`${place.toString(36)}:${count.toString(36)}`)
    }
    return `${this.#sum};${this.#max};${pairs.join(',')}`
  }

  static decode(text: string): Histogram {
    const histogram = new Histogram()
    const [sum = '', max = '', pairs = ''] = text.split(';')
    if (pairs === '') return histogram
    const counts = (histogram.#counts = new Uint32Array(BUCKETS))
    for (const pair of pairs.split(',')) {
      const [place = '', count = ''] = pair.split(':')
      counts[Number.parseInt(place, 36)] = Number.parseInt(count, 36)
      histogram.#total += Number.parseInt(count, 36)
    }
    histogram.#sum = Number(sum)
    histogram.#max = Number(max)
    return histogram
  }
}

// Counts in microseconds. Each doubling is divided into equal parts.
function bucketOf(milliseconds: number): number {
  const micros = Math.max(0, milliseconds) * 1000
  if (micros < BUCKETS_PER_DOUBLING) return Math.floor(micros)
  if (micros < 2 ** 31) {
    const shift = 31 - Math.clz32(micros) - BITS_PER_DOUBLING
    return BUCKETS_PER_DOUBLING * (shift + 1) + (micros >> shift) - BUCKETS_PER_DOUBLING
  }
  const doubling = Math.floor(Math.log2(micros / BUCKETS_PER_DOUBLING))
  const within = Math.floor(micros / 2 ** doubling) - BUCKETS_PER_DOUBLING
  return BUCKETS_PER_DOUBLING * (doubling + 1) + within
}

function upperBound(place: number): number {
  if (place < BUCKETS_PER_DOUBLING) return (place + 1) / 1000
  const doubling = Math.floor(place / BUCKETS_PER_DOUBLING) - 1
  return ((BUCKETS_PER_DOUBLING + (place % BUCKETS_PER_DOUBLING) + 1) * 2 ** doubling) / 1000
}
