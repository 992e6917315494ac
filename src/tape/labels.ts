/** The labels that are texts, in the order of the header. */
export const TEXT_LABELS = ['session', 'endpoint', 'agent', 'note'] as const

/** What the user wrote on the tape. */
export interface TapeLabels {
  /** What the recording belongs to, by ids of the user's own. */
  readonly session?: string
  readonly endpoint?: string
  readonly agent?: string
  readonly note?: string
  readonly tags: Readonly<Record<string, string>>
}

/** The same, all of it optional. */
export type TapeLabelOptions = Partial<TapeLabels>

/** The labels among other members; an empty text is none. */
export function pickLabels(options: TapeLabelOptions): TapeLabels {
  const given = TEXT_LABELS.filter((id) => options[id] !== undefined && options[id] !== '')
  return { ...Object.fromEntries(given.map((id) => [id, options[id]])), tags: options.tags ?? {} }
}
