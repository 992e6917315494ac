/** A pattern as people write it: `/…/i`, or its source alone. */
export function parsePattern(text: string): RegExp {
  const [, source = text, flags = ''] = PATTERN_SYNTAX.exec(text) ?? []
  return new RegExp(source, flags)
}

/** A value as people write it: between slashes it is a pattern, and otherwise itself. */
export function parseValuePattern(text: string): RegExp {
  return PATTERN_SYNTAX.test(text) ? parsePattern(text) : exactPattern(text)
}

export function exactPattern(value: string): RegExp {
  return new RegExp(`^${value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)}$`)
}

const PATTERN_SYNTAX = /^\/(.*)\/([imsu]*)$/s
