/** Something that is wrong, and what to do about it. */
export interface DoctorFinding {
  readonly kind:
    | 'recorder-gone'
    | 'recorder-fails'
    | 'variable-missing'
    | 'server-wants-login'
    | 'server-fails'
    | 'server-moved'
    | 'server-unreachable'
    | 'not-remembered'
    | 'no-longer-wrapped'
    | 'config-refused'
    | 'tape-unusable'
    | 'tapes-unwritable'
    | 'tapes-not-private'
  readonly about: string
  readonly hint: string
}
