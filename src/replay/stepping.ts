/** Values on their way from where they are made to where they are awaited, in order. */
export class AsyncQueue<Value> implements AsyncIterable<Value> {
  readonly #values: Value[] = []
  #wake: () => void = () => {}
  #failure: { readonly error: unknown } | undefined
  #isClosed = false

  push(value: Value): void {
    this.#values.push(value)
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Whoever awaits the next value gets the error, after the values that came before it. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    this.close()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      for (const value of this.#values.splice(0)) yield value
      if (this.#values.length > 0) continue
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#isClosed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
