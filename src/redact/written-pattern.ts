/** A pattern as people write it: `/…/i`, or its source alone. */
export function writtenPattern(text: string): RegExp {
  const [, source = text, flags = ''] = WRITTEN.exec(text) ?? []
  return new RegExp(source, flags)
}

/** A value as people write it: between slashes it is a pattern, and otherwise itself. */
export function writtenValue(text: string): RegExp {
  return WRITTEN.test(text) ? writtenPattern(text) : exactly(text)
}

export function exactly(value: string): RegExp {
  return new RegExp(`^${value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)}$`)
}

const WRITTEN = /^\/(.*)\/([imsu]*)$/s
